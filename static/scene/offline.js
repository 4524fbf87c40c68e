// The scene inside a file: nothing is asked of anybody.
import {Scene} from "./scene.js";

new Scene(document.getElementById("scene")).show(GIVEN);
