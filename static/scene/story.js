// The story: every frame begins when it comes near, from the data in the page; no server is asked.
import {Arrows} from "./arrows.js";
import {dress} from "./dom.js";
import {Money} from "./money.js";
import {Noise} from "./noise.js";
import {Person} from "./person.js";
import {Scene} from "./scene.js";

const KINDS = {arrows: Arrows, money: Money, noise: Noise, person: Person, scene: Scene};
const dark = matchMedia("(prefers-color-scheme: dark)");
const marks = JSON.parse(document.getElementById("marks").textContent);

function begin(place) {
  const given = JSON.parse(place.querySelector("script").textContent), root = document.createElement("div");
  place.replaceChildren(root);
  const made = new KINDS[place.dataset.kind](root);
  const show = () => { dress(root, marks[dark.matches ? "dark" : "light"]); made.show(given); };
  dark.addEventListener("change", show);
  show();
}

const near = new IntersectionObserver((seen) => {
  for (const {isIntersecting, target} of seen) if (isIntersecting) { near.unobserve(target); begin(target); }
}, {rootMargin: "60%"});
document.querySelectorAll("[data-kind]").forEach((place) => near.observe(place));
