"""Files of raw texts, as tests make them."""

import json

TEXTS = [
    "To be or not to be",
    "",
    "À la recherche du temps perdu, à la recherche",
    "to be\tor not  to be",
    "Слова слова СЛОВА",
    "one",
]
LABELS = ["de", "fr", "ça", "fr", "de", "Zz"]
IDS = ["a 1", "a 2", "b", "c", "d", "e"]


def write_jsonl(path, texts=TEXTS, labels=LABELS, ids=IDS):
    records = zip(texts, labels, ids, strict=True)
    lines = [json.dumps({"text": t, "label": label, "id": i}) + "\n" for t, label, i in records]
    path.write_text("".join(lines), encoding="utf-8")
    return path
