// The scene inside a file, which sends no requests.
import {dress} from "./dom.js";
import {Scene} from "./scene.js";

const root = document.getElementById("scene");
dress(root, GIVEN.marks);
new Scene(root).show(GIVEN);
