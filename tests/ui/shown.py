"""What a page shows, as lines of text that a person can read and a test can compare."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

HIDDEN = {"id", "form_id", "element_id", "url", "page_script_hash", "user_key",
          "deferred_file_id", "max_upload_size_mb"}  # fmt: skip
LONG = 24  # numbers of a drawn series that are written out: of more, every so many


def shown(app: AppTest) -> str:
    """Every element of a page in its order, one or more lines each."""
    return "\n".join(line for node in (app.sidebar, app.main) for line in _lines(node))


def _lines(node: Any) -> list[str]:
    if hasattr(node, "children"):
        label = getattr(getattr(node, "proto", None), "label", "")
        inner = [line for child in node.children.values() for line in _lines(child)]
        return [f"[{node.type}] {label}", *inner] if label else inner
    return [line for line in _element(node).splitlines() if line.strip()]


def _element(e: Any) -> str:
    kind = e.type
    if kind == "html":
        return html(str(e.value))
    if kind == "plotly_chart":
        return chart(json.loads(e.proto.spec))
    if kind == "dataframe":
        return f"[table] {' '.join(e.proto.columns.split())}\n{table(e.value)}"
    if kind == "iframe":
        return html(e.proto.srcdoc) + "\n" + network(e.proto.srcdoc)
    if kind == "bidi_component" and e.proto.component_name == "address":
        return ""  # which stands in the browser's window
    if kind == "bidi_component":
        return f"[component {e.proto.component_name}] {brief(json.loads(e.proto.json or '{}'))}"
    return f"[{kind}] " + " | ".join(_said(e.proto))


def _said(proto: Any) -> list[str]:
    """Labels, values, helps and options of an element."""
    found = []
    for field, value in proto.ListFields():
        if field.name in HIDDEN:
            continue
        if field.message_type is not None:
            parts = value if field.is_repeated else [value]
            found += [word for part in parts for word in _said(part)]
        elif field.type == field.TYPE_BYTES:
            continue
        elif field.is_repeated:
            found.append(f"{field.name}: " + ", ".join(map(_number, value)))
        else:
            found.append(f"{field.name}: {_number(value)}")
    return found


def html(text: str) -> str:
    """The words of a piece of HTML, one block a line, with the pictures' alternatives."""
    text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.S)
    text = re.sub(r'<img\b[^>]*?alt="([^"]*)"[^>]*>', r" [picture: \1] ", text)
    text = re.sub(r'<path[^>]*? d="([^"]*)"[^>]*>', "", text)
    text = re.sub(
        r"</?(p|div|li|tr|h\d|section|figure|figcaption|table|ul|ol|br)\b[^>]*>", "\n", text
    )
    text = re.sub(r"</t[dh]>", " | ", text)
    words = unescape(re.sub(r"<[^>]+>", " ", text))
    return "\n".join(" ".join(line.split()) for line in words.splitlines() if line.strip())


def network(page: str) -> str:
    """Nodes with their places and links with their inks, of a picture that can be moved."""
    found, names = [], {}
    for kind, items in re.findall(r"(nodes|edges) = new vis.DataSet\((\[.*?\])\);", page):
        for item in json.loads(items):
            if kind == "nodes":
                names[item["id"]] = item["label"]
                found.append(f"  node {item['label']!r} at {item['x']:.1f}, {item['y']:.1f}")
            else:
                ends = f"{names[item.pop('from')]} to {names[item.pop('to')]}"
                found.append(f"  link {ends}: {brief(item)}")
    return "\n".join(found)


def chart(spec: dict[str, Any]) -> str:
    """Axes, words and every series of a chart."""
    layout = {k: v for k, v in spec["layout"].items() if k != "template"}
    lines = [f"[chart] {brief(layout)}"]
    return "\n".join([*lines, *(f"  series {brief(trace)}" for trace in spec["data"])])


def table(frame: pd.DataFrame) -> str:
    rounded = frame.map(_number) if len(frame) else frame
    return rounded.to_csv(sep="|", index=not isinstance(frame.index, pd.RangeIndex))


def brief(value: Any) -> str:
    """JSON with numbers of four digits; of long lists the length and some."""
    return json.dumps(_brief(value), ensure_ascii=False, sort_keys=True)


def _brief(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"dtype", "bdata"} or "bdata" in value:
            return _brief(np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]).tolist())
        # A digest says whether the component draws anew: the content next to it is what is shown.
        return {k: _brief(v) for k, v in value.items() if k != "digest"}
    if isinstance(value, list):
        if len(value) > LONG:
            return [f"{len(value)} of", *map(_brief, value[:: len(value) // 8])]
        return [_brief(v) for v in value]
    if isinstance(value, str) and len(value) > 600:
        return f"{len(value)} characters: {value[:200]}"
    return _number(value) if isinstance(value, float) else value


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
