// The graph: plain boxes, one line per pair, an arrowhead at either end. Lines fade in and out.
import {add, marks} from "./dom.js";
import {ABSENT, BACK, FORTH, LINE, UNTESTED, classOf, frame, share} from "./model.js";

const DOWN = 17;  // units of the picture between two lines of a label
const LETTER = 14, READ = 20;  // units of the picture; CSS pixels
const PHONE = 480;  // width of a graph in CSS pixels below which its boxes are stacked
const MANY = 100;  // from this number of pairs on lines do not fade, because that would take longer than a frame

/** A curve through a, bend and b at its share t. */
const point = (a, bend, b, t) => [0, 1].map((k) => (1 - t) ** 2 * a[k] + 2 * t * (1 - t) * bend[k] + t * t * b[k]);

/** The share of a curve at which it has left the box around its start. */
function outside(a, bend, b, half) {
  let low = 0, high = 1;
  for (let n = 0; n < 12; n++) {
    const t = (low + high) / 2, [x, y] = point(a, bend, b, t);
    if (Math.abs(x - a[0]) < half[0] && Math.abs(y - a[1]) < half[1]) low = t; else high = t;
  }
  return high;
}

/** Ends and bend of a pair's line from box to box; engine/graphs/layout.py computes the bow. */
function route(a, b, halfA, halfB, bow) {
  const dx = b[0] - a[0], dy = b[1] - a[1], turn = (bow + 1) * Math.PI / 2, share = (Math.abs(bow) + 1) / 2;
  const bend = [a[0] + share * (dx * Math.sin(turn) - dy * Math.cos(turn)), a[1] + share * (dx * Math.cos(turn) + dy * Math.sin(turn))];
  const s = outside(a, bend, b, halfA), t = 1 - outside(b, bend, a, halfB);
  return {from: point(a, bend, b, s), to: point(a, bend, b, t),
    bend: [0, 1].map((k) => (1 - s) * (1 - t) * a[k] + (s * (1 - t) + t * (1 - s)) * bend[k] + s * t * b[k])};
}

/** A triangle whose tip is at ``tip``, coming from ``from``. */
function head(tip, from) {
  const angle = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
  const at = (turn, far) => [tip[0] - far * Math.cos(angle + turn), tip[1] - far * Math.sin(angle + turn)];
  return `M${tip}L${at(0.42, 14)}L${at(-0.42, 14)}Z`;
}

/** The sign at the middle of a line: a circle, a diamond or nothing. */
export function sign(marker, [x, y]) {
  if (marker === "circle") return `M${x - 6} ${y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z`;
  return marker === "diamond" ? `M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}Z` : "";
}

/** The layout for a window: one with letters that can be read from the last row, else the one with the largest letters. */
function fitting(layouts, svg, narrow) {
  if (narrow && svg.clientWidth < PHONE) return layouts.narrow;
  const high = parseFloat(getComputedStyle(svg).maxHeight) || Infinity;
  const letters = ({frame: [, , w, h]}) => LETTER * Math.min(svg.clientWidth / w, high / h);
  return letters(layouts.wide) >= READ || letters(layouts.wide) >= letters(layouts.small) ? layouts.wide : layouts.small;
}

export class Graph {
  /** @param {Record<string, any>} attributes of the picture @param {(pair: number | null) => void} hovered */
  constructor(attributes, hovered = () => {}) {
    this.svg = add("svg", attributes);
    this.hovered = hovered;
    /** @type {Map<number, any>} */
    this.lines = new Map();
  }

  /** Put boxes where they fit best. Return true if their places changed. */
  fit(model, {layouts}, narrow) {
    const layout = fitting(layouts, this.svg, narrow);
    if (layout === this.layout && model === this.model) return false;
    this.lay(model, layout);
    return true;
  }

  /** Put boxes in their places. Lines are made when a draw first has them. */
  lay(model, layout) {
    this.model = model;
    this.layout = layout;
    this.lines.clear();
    this.many = model.pairs.length > MANY;
    this.svg.classList.toggle("many", this.many);
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", layout.frame.join(" "));
    this.back = add("g", {}, this.svg);
    this.wires = add("g", {}, this.svg);
    this.half = layout.sizes.map(([w, h]) => [w / 2, h / 2]);
    layout.lines.forEach((lines, k) => this.box(lines, k));
    model.truth.forEach((t, p) => { if (t !== ABSENT) this.line(p); });
  }

  box(lines, k) {
    const [x, y] = this.layout.at[k], [w, h] = this.half[k];
    const g = add("g", {class: "box"}, this.svg);
    add("rect", {x: x - w, y: y - h, width: 2 * w, height: 2 * h, rx: 8}, g);
    lines.forEach((line, n) => add("text", {x, y: y + 5 + DOWN * (n - (lines.length - 1) / 2)}, g, line));
  }

  /** The path of a pair's line around the boxes. */
  route(p, more = 0) {
    const [i, j] = this.model.pairs[p];
    return route(this.layout.at[i], this.layout.at[j], this.half[i], this.half[j], this.layout.bows[p] + more);
  }

  /** Bow a line by this much more. */
  bend(p, more) {
    const r = this.route(p, more);
    this.line(p).wire.setAttribute("d", `M${r.from}Q${r.bend} ${r.to}`);
  }

  line(p) {
    if (this.lines.has(p)) return this.lines.get(p);
    const truth = this.model.truth[p], real = truth !== ABSENT, r = this.route(p), d = `M${r.from}Q${r.bend} ${r.to}`;
    const shadow = real ? add("path", {d, class: "shadow"}, this.back) : null;
    const end = truth === FORTH ? r.to : truth === BACK ? r.from : null;
    const g = add("g", {class: "link"}, this.wires);
    const made = {
      g, shadow, middle: [0, 1].map((k) => (r.from[k] + 2 * r.bend[k] + r.to[k]) / 4),
      tip: end && add("path", {d: head(end, r.bend), class: "tip"}, this.back),
      wire: add("path", {d, class: "wire"}, g),
      forth: add("path", {d: head(r.to, r.bend), class: "head"}, g),
      back: add("path", {d: head(r.from, r.bend), class: "head"}, g),
      sign: add("path", {class: "head"}, g),
      hit: add("path", {d, class: "hit", tabindex: -1}, g),
    };
    made.hit.addEventListener("pointerenter", () => this.hovered(p));
    made.hit.addEventListener("pointerleave", () => this.hovered(null));
    this.lines.set(p, made);
    return made;
  }

  /** Draw one draw, or with ``ghost`` all of them at once. */
  draw(key, at, k, ghost, lit) {
    const states = ghost ? null : frame(this.model, key, at, k);
    this.paint((p) => ghost ? this.shares(key, at, p) : this.single(p, states[p]), lit, ghost);
  }

  /** Draw every pair as ``lookOf`` says: its kind, and how dark its line and its two heads are.
   * @param {(p: number) => {kind: string, opacity: number, forth: number, back: number}} lookOf */
  paint(lookOf, lit = null, ghost = false) {
    for (let p = 0; p < this.model.pairs.length; p++) {
      const look = lookOf(p);
      if (!look.opacity && !this.lines.has(p)) continue;
      const line = this.line(p), seen = `${look.kind} ${look.opacity} ${look.forth} ${look.back} ${lit === p} ${ghost}`;
      if (line.seen === seen) continue;
      line.seen = seen;
      if (this.many && !line.shadow) line.g.style.display = look.opacity ? "" : "none";
      line.g.setAttribute("class", `link ${look.kind}${lit === p ? " lit" : ""}`);
      line.wire.style.opacity = look.opacity;
      if (line.tip) line.tip.style.opacity = +!look.opacity; // a visible link has other arrowheads
      line.sign.setAttribute("d", ghost ? "" : sign(marks[look.kind]?.marker, line.middle));
      line.sign.style.opacity = look.opacity;
      line.forth.style.opacity = look.forth;
      line.back.style.opacity = look.back;
      // If all draws are shown at once, only an arrow against the truth has another ink.
      line.forth.classList.toggle("against", ghost && this.model.truth[p] !== ABSENT && this.model.truth[p] !== FORTH);
      line.back.classList.toggle("against", ghost && this.model.truth[p] !== ABSENT && this.model.truth[p] !== BACK);
      line.hit.style.pointerEvents = look.opacity > 0.02 || line.shadow ? "stroke" : "none";
    }
  }

  /** The style of one state of a pair: its class, with lines and heads at full opacity. */
  single(p, state) {
    const kind = classOf(this.model.truth[p], this.model.causal[p], state);
    const there = state === LINE || state === FORTH || state === BACK;
    return {kind, opacity: there || state === UNTESTED ? 1 : 0, forth: +(state === FORTH), back: +(state === BACK)};
  }

  shares(key, at, p) {
    const s = share(this.model, key, at, p), of = s.of || 1;
    const kind = this.model.truth[p] === ABSENT ? "false_positive" : "found";
    return {kind, opacity: s.linked / of, forth: s.forth / of, back: s.back / of};
  }
}
