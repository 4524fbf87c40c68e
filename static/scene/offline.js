// The scene inside a file: nothing is asked of anybody.
import {dress} from "./dom.js";
import {Scene} from "./scene.js";

const root = document.getElementById("scene");
dress(root, GIVEN.marks);
new Scene(root).show(GIVEN);
