// Reverse an arrow: which questions would the data answer differently?
import {Picture, el, keyed} from "./dom.js";
import {Graph} from "./graph.js";
import {pairsOf} from "./model.js";

const CYCLE = -1;

export class Arrows extends Picture {
  /** @param {{titles: string[], layouts: any, truth: number[], causal: number[], arrows: number[][], kinds: number[], changed: number[], examples: any[][], questions: number, digest: string}} given */
  show(given) {
    if (!this.fresh(given)) return;
    Object.assign(this, {mask: 0, turned: 0, either: Boolean(given.either)});
    this.model = {d: given.titles.length, pairs: pairsOf(given.titles.length), truth: given.truth, causal: given.causal};
    this.places = given.arrows.map(([a, b]) => this.model.pairs.findIndex(([i, j]) => i === Math.min(a, b) && j === Math.max(a, b)));
    this.reversible = given.arrows.map((_, k) => given.kinds.some((kind, mask) => kind === 0 && mask >> k & 1));
    if (!this.graph) this.build();
    this.layOut();
  }

  build() {
    this.root.className = "scene arrows";
    this.graph = new Graph({role: "group", "aria-label": "The arrows: choose one to reverse it"});
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.list = el("ul", {class: "changes"});
    this.eitherButton = el("button", {"aria-pressed": "false", onclick: () => { this.either = !this.either; this.draw(); }}, "Which may point either way?");
    this.root.replaceChildren(el("div", {class: "stage"}, this.graph.svg, el("div", {class: "told"}, this.said, this.list,
      el("div", {class: "buttons"}, el("button", {onclick: () => { this.mask = 0; this.either = false; this.draw(); }}, "Show the true graph"), this.eitherButton))));
    this.watch(() => this.layOut());
  }

  layOut() {
    if (this.graph.fit(this.model, this.given, this.fold())) this.places.forEach((p, k) => this.button(this.graph.line(p).hit, k));
    this.draw();
  }

  /** The buttons that reverse an arrow. */
  button(hit, k) {
    hit.setAttribute("tabindex", "0");
    hit.setAttribute("role", "button");
    hit.addEventListener("click", () => this.turn(k));
    keyed(hit, {Enter: 1, " ": 1}, () => this.turn(k));
  }

  turn(k) { this.mask ^= 1 << k; this.turned++; this.either = false; this.draw(); }
  name(k) { const [a, b] = this.given.arrows[k], t = this.given.titles, round = this.mask >> k & 1; return `${t[round ? b : a]} → ${t[round ? a : b]}`; }

  draw() {
    const {given, mask} = this, looks = new Map();
    given.arrows.forEach(([a, b], k) => {
      const round = Boolean(mask >> k & 1), forth = (a < b) !== round, plain = this.either && this.reversible[k];
      looks.set(this.places[k], {kind: round ? "reversed" : this.either && !plain ? "found" : "open sure", opacity: 1,
        forth: plain ? 0 : +forth, back: plain ? 0 : +!forth});
      const {hit} = this.graph.line(this.places[k]);
      hit.setAttribute("aria-label", `${this.name(k)}: reverse it`);
      hit.setAttribute("aria-pressed", String(round));
    });
    this.graph.paint((p) => looks.get(p) || {kind: "none", opacity: 0, forth: 0, back: 0});
    this.eitherButton.setAttribute("aria-pressed", String(this.either));
    this.root.dataset.mask = String(mask);
    this.words();
  }

  words() {
    const {given, mask} = this, kind = given.kinds[mask], of = given.questions.toLocaleString("en"), strong = (c, t) => el("b", {class: c}, t);
    const many = kind === CYCLE ? 0 : given.changed[kind], free = this.reversible.filter(Boolean).length;
    const say = (...parts) => this.said.replaceChildren(...parts);
    if (this.either) say(strong("found", `${free} of ${given.arrows.length} arrows`), " may point either way and are drawn as plain lines. For each of them, a graph with that arrow reversed answers every question in the same way. The data identify the other arrows.");
    else if (!mask) say(this.turned ? "This is the true graph again. " : "Click an arrow to reverse it. ", `Data answer questions: do these two go together, once others are known? Here there are ${of}. How many answers would change?`);
    else if (kind === CYCLE) say(strong("false_positive", "These arrows form a cycle"), ": a thing would be its own cause. Reverse another arrow.");
    else if (!many) say(strong("found", `None of ${of} answers would change. `), "No data, however many, can tell this graph from the true one: a reversed arrow may point either way.");
    else say(strong("false_positive", `${many.toLocaleString("en")} of ${of} answers would change`), ": data can tell this graph from the true one. For example:");
    const t = given.titles, shown = this.either || !mask || kind === CYCLE ? [] : given.examples[kind];
    this.list.replaceChildren(...shown.map(([x, y, held, independent]) => el("li", {},
      `${t[x]} and ${t[y]}${held.length ? `, once we know ${held.map((g) => t[g]).join(" and ")}` : ""}: in truth they ${independent ? "have nothing to do with each other" : "go together"}; here they would ${independent ? "go together" : "not"}.`)));
  }
}
