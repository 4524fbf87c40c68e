// The scene as a component of a Streamlit page.
import {Scene} from "./scene.js";

const scenes = new WeakMap();

export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  let scene = scenes.get(parentElement);
  if (!scene) {
    const root = document.createElement("div");
    parentElement.append(root);
    scene = new Scene(root, {
      rested: (state) => setStateValue("frame", state),
      yours: (state) => setTriggerValue("yours", state),
    });
    scenes.set(parentElement, scene);
  }
  if (data.digest !== scene.digest) {
    scene.digest = data.digest;
    scene.load(data);
  }
  for (const [name, value] of Object.entries(data.inks)) scene.root.style.setProperty(name, value);
  scene.dots && scene.layout && scene.draw();
}
