# The public names: sparsemaps/files/__init__.py loads them from here when they are first used.
from sparsemaps.files._dedup import Deduplicated as Deduplicated
from sparsemaps.files._dedup import DeduplicatedFile as DeduplicatedFile
from sparsemaps.files._dedup import deduplicate_files as deduplicate_files
from sparsemaps.files._filter import FilteredFile as FilteredFile
from sparsemaps.files._filter import filter_files as filter_files
from sparsemaps.files._job import MappedFile as MappedFile
from sparsemaps.files._job_options import Removal as Removal
from sparsemaps.files._job_options import Run as Run
from sparsemaps.files._job_options import Search as Search
from sparsemaps.files._job_options import Svmlight as Svmlight
from sparsemaps.files._job_options import Tables as Tables
from sparsemaps.files._job_options import Texts as Texts
from sparsemaps.files._learning import TrainedModel as TrainedModel
from sparsemaps.files._learning import train_files as train_files
from sparsemaps.files._map import map_files as map_files
from sparsemaps.files._pairs import FoundPairs as FoundPairs
from sparsemaps.files._pairs import similar_pairs_of_files as similar_pairs_of_files
from sparsemaps.files._predict import LabelledFile as LabelledFile
from sparsemaps.files._predict import predict_files as predict_files
from sparsemaps.files._tasks import Engine as Engine

__all__: list[str]
