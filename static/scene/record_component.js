// One record to move, as a component of a Streamlit page.
import {RecordMove} from "./record.js";

const shown = new WeakMap();

export default function ({data, parentElement}) {
  let record = shown.get(parentElement);
  if (!record) {
    const root = document.createElement("div");
    parentElement.append(root);
    record = new RecordMove(root);
    shown.set(parentElement, record);
  }
  for (const [name, value] of Object.entries(data.inks)) record.root.style.setProperty(name, value);
  record.show(data);
}
