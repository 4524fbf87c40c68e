// One noisy test as a component of a Streamlit page.
import {Noise} from "./noise.js";

const shown = new WeakMap();

export default function ({data, parentElement}) {
  let noise = shown.get(parentElement);
  if (!noise) {
    const root = document.createElement("div");
    parentElement.append(root);
    noise = new Noise(root);
    shown.set(parentElement, noise);
  }
  for (const [name, value] of Object.entries(data.inks)) noise.root.style.setProperty(name, value);
  noise.show(data);
}
