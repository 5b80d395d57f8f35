"""Labels of texts by FastAPI: MODEL=model uvicorn app:app --workers 8."""

import os

from fastapi import FastAPI, HTTPException, Request
from server import LARGEST, Served, texts_of

app = FastAPI()
served = Served(os.environ["MODEL"], mmap_mode="r")  # the workers share its weights


@app.get("/health")
@app.head("/health")
async def health():
    return {"status": "ok"}


@app.post("/labels")
async def labels(request: Request):
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise HTTPException(413, f"at most {LARGEST} bytes are taken")
    try:
        texts = texts_of(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, str(error)) from error
    return {"labels": served.labels_of(texts)}
