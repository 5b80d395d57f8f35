"""What tests compare with: slow, plain code, and the errors that statistics allow."""
