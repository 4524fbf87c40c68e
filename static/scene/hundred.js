// A hundred figures next to the dial show the most right guesses about one person in a hundred.
import {add, el} from "./dom.js";

const ACROSS = 25, WIDE = 22, TALL = 27, CHANCE = 50;  // the figure of engine/graphs/picture.py

export class Hundred {
  constructor() {
    const svg = add("svg", {viewBox: `0 0 ${ACROSS * WIDE} ${100 / ACROSS * TALL}`, "aria-hidden": "true"});
    this.said = el("figcaption");
    this.node = el("figure", {class: "hundred"}, svg, this.said);
    this.figures = Array.from({length: 100}, (_, k) => {
      const x = (k % ACROSS + 0.5) * WIDE, y = Math.floor(k / ACROSS) * TALL;
      return add("path", {d: `M${x - 4} ${y + 6.5}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M${x - 6} ${y + 24}v-6q0 -5.5 6 -5.5t6 5.5v6z`}, svg);
    });
  }

  /** @param {number} right @param {boolean} exact true if there is no guarantee: all figures are lit @param {string} said */
  show(right, exact, said) {
    if (said === this.said.textContent) return;
    this.said.textContent = said;
    this.figures.forEach((figure, k) => figure.setAttribute("class", k >= right ? "" : exact ? "none" : k < CHANCE ? "chance" : "lit"));
  }
}
