// The graph: plain boxes, one line a pair, an arrowhead at either end. Lines fade, they do not blink.
import {add, marks} from "./dom.js";
import {ABSENT, BACK, FORTH, LINE, UNTESTED, classOf, frame, share} from "./model.js";

const HIGH = 30;
const LETTER = 14, READ = 20;  // units of the picture; CSS pixels
const PHONE = 480;  // CSS pixels of a graph, below which its boxes stand above each other
const MANY = 100;  // pairs, from which on lines do not fade: so many at once would take longer than a frame

/** Where a line towards (x, y) leaves the box around c. */
function edge(c, half, x, y) {
  const dx = x - c[0], dy = y - c[1];
  const scale = Math.min(half[0] / (Math.abs(dx) || 1e-9), half[1] / (Math.abs(dy) || 1e-9));
  return [c[0] + dx * scale, c[1] + dy * scale];
}

/** Ends and bend of a pair's line that bows by a share of its length. */
function route(a, b, halfA, halfB, bow) {
  const mid = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const bend = [mid[0] - (b[1] - a[1]) * bow, mid[1] + (b[0] - a[0]) * bow];
  return {from: edge(a, halfA, ...bend), to: edge(b, halfB, ...bend), bend};
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

/** Of the places for the boxes those with letters that can be read from the last row, or with the largest there are. */
function fitting(layouts, svg, narrow) {
  if (narrow && svg.clientWidth < PHONE) return layouts.narrow;
  const high = parseFloat(getComputedStyle(svg).maxHeight) || Infinity;
  const letters = ({size}) => LETTER * Math.min(svg.clientWidth / size[0], high / size[1]);
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

  /** Boxes where they fit best; whether they are laid anew. */
  fit(model, {titles, layouts}, narrow) {
    const layout = fitting(layouts, this.svg, narrow);
    if (layout === this.layout && model === this.model) return false;
    this.lay(model, titles, layout);
    return true;
  }

  /** Boxes in their places; lines come when a draw first has them. */
  lay(model, titles, layout) {
    this.model = model;
    this.layout = layout;
    this.lines.clear();
    this.many = model.pairs.length > MANY;
    this.svg.classList.toggle("many", this.many);
    this.svg.replaceChildren();
    const [w, h] = layout.size;
    this.svg.setAttribute("viewBox", `${-w / 2} ${-h / 2} ${w} ${h}`);
    this.back = add("g", {}, this.svg);
    this.wires = add("g", {}, this.svg);
    this.half = titles.map((_, k) => [layout.widths[k] / 2, HIGH / 2]);
    titles.forEach((title, k) => this.box(title, k));
    model.truth.forEach((t, p) => { if (t !== ABSENT) this.line(p); });
  }

  box(title, k) {
    const [x, y] = this.layout.at[k], [w, h] = this.half[k];
    const g = add("g", {class: "box"}, this.svg);
    add("rect", {x: x - w, y: y - h, width: 2 * w, height: 2 * h, rx: 8}, g);
    add("text", {x, y: y + 5}, g, title);
  }

  /** The way of a pair's line: true links are straight, others bow out of their way. */
  route(p, more = 0) {
    const [i, j] = this.model.pairs[p], bow = this.model.truth[p] !== ABSENT ? 0 : p % 2 ? 0.16 : -0.16;
    return route(this.layout.at[i], this.layout.at[j], this.half[i], this.half[j], bow + more);
  }

  /** Let a line bow by so much more. */
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
      if (line.tip) line.tip.style.opacity = +!look.opacity; // a link that is drawn has heads of its own
      line.sign.setAttribute("d", ghost ? "" : sign(marks[look.kind]?.marker, line.middle));
      line.sign.style.opacity = look.opacity;
      line.forth.style.opacity = look.forth;
      line.back.style.opacity = look.back;
      // Among all draws at once an arrow against the truth is told apart by itself.
      line.forth.classList.toggle("against", ghost && this.model.truth[p] !== ABSENT && this.model.truth[p] !== FORTH);
      line.back.classList.toggle("against", ghost && this.model.truth[p] !== ABSENT && this.model.truth[p] !== BACK);
      line.hit.style.pointerEvents = look.opacity > 0.02 || line.shadow ? "stroke" : "none";
    }
  }

  /** The looks of one state of a pair: a class of its own, whole lines and heads. */
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
