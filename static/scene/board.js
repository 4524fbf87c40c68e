// Background knowledge: columns to drag between tiers, and pairs to forbid or require.
import {Picture, el} from "./dom.js";

const WORDS = {open: "may cause", forbidden: "does not cause", required: "causes"};

/** The knowledge as text that does not depend on its order. */
const said = ({tiers, forbidden, required}) => JSON.stringify([
  tiers.map((tier) => [...tier].sort()),
  ...[forbidden, required].map((arrows) => arrows.map((arrow) => JSON.stringify(arrow)).sort()),
]);

export class Board extends Picture {
  chosen = [];
  /** @type {string[]} */
  sent = [];

  show(data) {
    if (!this.fresh(data)) return;
    this.root.className = "board";
    const own = this.sent.indexOf(said(data)), same = String(data.names) === String(this.names);
    this.sent = this.sent.slice(own + 1);
    if (own >= 0 && same) return; // the page's answer may be older than the user's last move
    this.sent = [];
    this.names = data.names;
    this.tiers = data.tiers.map((tier) => [...tier]);
    this.forbidden = new Set(data.forbidden.map(JSON.stringify));
    this.required = new Set(data.required.map(JSON.stringify));
    this.chosen = this.chosen.filter((name) => this.names.includes(name));
    const at = this.root.getRootNode().activeElement?.dataset?.name;
    this.draw();
    if (at) this.focus(at); // the keyboard's focus stays on the same column
  }

  /** Where a column is: the place of its tier, -1 for none. */
  tierOf(name) {
    return this.tiers.findIndex((tier) => tier.includes(name));
  }

  move(name, to) {
    const from = this.tierOf(name);
    if (from === to) return;
    if (from >= 0) this.tiers[from] = this.tiers[from].filter((other) => other !== name);
    if (to >= this.tiers.length) this.tiers.push([]);
    if (to >= 0) this.tiers[to].push(name);
    this.tiers = this.tiers.filter((tier, k) => tier.length || k === to);
    this.send(name);
  }

  state(a, b) {
    const arrow = JSON.stringify([a, b]);
    return this.required.has(arrow) ? "required" : this.forbidden.has(arrow) ? "forbidden" : "open";
  }

  mark(a, b, state) {
    const arrow = JSON.stringify([a, b]);
    this.forbidden.delete(arrow);
    this.required.delete(arrow);
    if (state === "forbidden") this.forbidden.add(arrow);
    if (state === "required") this.required.add(arrow);
    this.send(`${arrow} ${state}`);
  }

  send(focus) {
    this.draw();
    this.focus(focus);
    const known = {
      tiers: this.tiers.filter((tier) => tier.length),
      forbidden: [...this.forbidden].map((arrow) => JSON.parse(arrow)),
      required: [...this.required].map((arrow) => JSON.parse(arrow)),
    };
    this.sent.push(said(known));
    this.hooks.known(known);
  }

  focus(name) {
    for (const button of this.root.querySelectorAll("button")) {
      if (button.dataset.name === name) button.focus();
    }
  }

  choose(name) {
    if (this.chosen.includes(name)) this.chosen = this.chosen.filter((other) => other !== name);
    else this.chosen = [...this.chosen.slice(-1), name];
    this.draw();
    this.focus(name);
  }

  draw() {
    const places = [-1, ...this.tiers.keys(), this.tiers.length];
    this.root.replaceChildren(
      el("div", {class: "tiers", role: "group", "aria-label": "Tiers, earliest first"},
        ...places.map((place) => this.column(place))),
      this.pair(),
    );
  }

  column(place) {
    const fresh = place === this.tiers.length;
    const title = place < 0 ? "In no tier" : fresh ? "New tier" : `Tier ${place + 1}`;
    const inside = place < 0 ? this.names.filter((name) => this.tierOf(name) < 0)
      : fresh ? [] : this.tiers[place];
    const one = this.chosen.length === 1 && this.tierOf(this.chosen[0]) !== place;
    const column = el("section", {class: `tier${fresh ? " fresh" : ""}`, "aria-label": title,
      ondragover: (e) => { e.preventDefault(); column.classList.add("over"); },
      ondragleave: () => column.classList.remove("over"),
      ondrop: (e) => { e.preventDefault(); this.move(e.dataTransfer.getData("text/plain"), place); },
    },
    el("h3", {}, title),
    ...inside.map((name) => this.chip(name)),
    one ? el("button", {class: "here", type: "button",
      onclick: () => this.move(this.chosen[0], place)}, `Put ${this.chosen[0]} here`) : "");
    return column;
  }

  chip(name) {
    return el("button", {class: "chip", type: "button", draggable: "true", "data-name": name,
      "aria-pressed": String(this.chosen.includes(name)),
      "aria-label": `${name}: arrow keys move it between tiers, a click chooses it`,
      onclick: () => this.choose(name),
      ondragstart: (e) => e.dataTransfer.setData("text/plain", name),
      onkeydown: (e) => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
        if (!step) return;
        e.preventDefault();
        const to = Math.max(-1, Math.min(this.tiers.length, this.tierOf(name) + step));
        this.move(name, to);
      }}, name);
  }

  /** The knowledge about two chosen columns, in both directions. */
  pair() {
    if (this.chosen.length < 2) {
      return el("p", {class: "hint"}, this.chosen.length
        ? "Choose a second one to forbid or require an arrow."
        : "Drag a name into a tier (or use the arrow keys). Nothing in a later tier causes anything "
          + "in an earlier one. Choose two names to forbid or require an arrow.");
    }
    const [a, b] = this.chosen;
    const rows = [[a, b], [b, a]].map(([from, to]) => el("div", {class: "way", role: "group",
      "aria-label": `${from} and ${to}`},
    el("span", {}, from),
    ...Object.entries(WORDS).map(([state, word]) => el("button", {type: "button", class: "word",
      "data-name": `${JSON.stringify([from, to])} ${state}`,
      "aria-pressed": String(this.state(from, to) === state),
      onclick: () => this.mark(from, to, state)}, word)),
    el("span", {}, to)));
    return el("div", {class: "pair"}, ...rows);
  }
}
