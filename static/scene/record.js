// Move one record between cells: the published p changes much, the strict strength hardly.
import {Picture, add, el, held, keyed} from "./dom.js";
import {short} from "./noise.js";

const SIZE = 92, GAP = 70, TOP = 62;
const BESIDE = {size: [860, 350], left: 36, gauges: [560, 730], down: 0, lift: 12, kind: "record"};
// In a narrow window the gauges stand below the tables, with larger letters.
const BELOW = {size: [490, 610], left: 44, gauges: [90, 310], down: 265, lift: 20, kind: "record below"};

export class RecordMove extends Picture {
  get fitting() { return this.root.clientWidth < this.least ? BELOW : BESIDE; }

  /** @param {{rest: number[][][], places: any[], claim: number, bound: number}} given */
  show(given) {
    if (!this.fresh(given, JSON.stringify([given.rest, given.claim]))) return;
    this.at = given.places.findIndex((p) => String(p.cell) === "0,1,1");
    this.start = given.places[this.at];
    this.build();
    this.watch(() => { if (this.way !== this.fitting) this.build(); });
  }

  build() {
    this.way = this.fitting;
    const {size, gauges, kind} = this.way;
    const svg = add("svg", {viewBox: `0 0 ${size[0]} ${size[1]}`, tabindex: 0, role: "slider", class: kind,
      "aria-label": "The record: drag it to another cell, or use the arrow keys"});
    this.svg = svg;
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.className = "scene record-scene";
    this.root.replaceChildren(el("div", {class: "main"}, svg, this.said));
    this.cells = this.given.places.map((p) => this.cell(p));
    this.needles = {p: this.gauge(gauges[0], "published p", 0, 0.5, this.start.p, this.given.claim),
      z: this.gauge(gauges[1], "strict strength", 0, Math.max(1, ...this.given.places.map((p) => p.z)) * 1.25, this.start.z, this.given.bound)};
    this.dot = add("circle", {r: 13, class: "grab"}, svg);
    held(svg, (e) => this.follow(e), () => this.draw());
    keyed(svg, {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}, (by) => {
      this.at = (this.at + by + this.cells.length) % this.cells.length;
      this.draw();
    });
    this.draw();
  }

  /** Where a cell lies: strata side by side, x downwards, y to the right. */
  place([stratum, x, y]) { return [this.way.left + stratum * (2 * SIZE + GAP) + y * SIZE, TOP + x * SIZE]; }

  cell(place) {
    const [x, y] = this.place(place.cell), [stratum, a, b] = place.cell;
    if (!a && !b) {
      add("text", {x: x + SIZE, y: TOP - 34, class: "name"}, this.svg, stratum ? "The large stratum" : "The small stratum");
      ["0", "1"].forEach((v, k) => {
        add("text", {x: x + SIZE * (k + 0.5), y: TOP - 10}, this.svg, `y = ${v}`);
        if (!stratum) add("text", {x: x - 6, y: TOP + SIZE * (k + 0.5) + 5, class: "end"}, this.svg, `x=${v}`);
      });
    }
    const box = add("rect", {x, y, width: SIZE, height: SIZE, class: "cell"}, this.svg);
    const count = add("text", {x: x + SIZE / 2, y: y + 30}, this.svg);
    return {box, count, middle: [x + SIZE / 2, y + SIZE * 0.66]};
  }

  gauge(x, name, low, high, start, reach) {
    const {down} = this.way, y = (v) => down + 310 - 250 * (v - low) / (high - low);
    add("text", {x: x + 30, y: down + 28, class: "name"}, this.svg, name);
    add("line", {x1: x, y1: y(low), x2: x, y2: y(high), class: "axis"}, this.svg);
    for (const v of [low, high]) add("text", {x: x - 8, y: y(v) + 5, class: "end"}, this.svg, short(v));
    const [top, bottom] = [y(Math.min(high, start + reach)), y(Math.max(low, start - reach))];
    add("rect", {x: x - 2, y: top, width: 64, height: Math.max(3, bottom - top), class: "fence"}, this.svg);
    add("text", {x: x + 66, y: (top + bottom) / 2 + 5, class: "start"}, this.svg, "fence");
    const needle = add("line", {x1: x - 6, x2: x + 60, class: "needle"}, this.svg);
    const value = add("text", {x: x + 64, class: "start value"}, this.svg);
    return {y, needle, value, inside: (v) => Math.abs(v - start) <= reach * (1 + 1e-9)};
  }

  follow(e) {
    const point = new DOMPoint(e.clientX, e.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const far = (c) => (c.middle[0] - point.x) ** 2 + (c.middle[1] - point.y) ** 2;
    this.at = this.cells.reduce((best, c, k) => far(c) < far(this.cells[best]) ? k : best, 0);
    this.draw([Math.min(this.way.left + 4 * SIZE + GAP + 72, this.way.size[0] - 10, Math.max(10, point.x)), Math.min(340, Math.max(10, point.y))]);
  }

  draw(hand = null) {
    const place = this.given.places[this.at];
    this.cells.forEach((c, k) => {
      const [s, a, b] = this.given.places[k].cell;
      c.count.textContent = (this.given.rest[s][a][b] + (k === this.at ? 1 : 0)).toLocaleString("en");
      c.box.setAttribute("class", k === this.at ? "cell here" : "cell");
    });
    const [x, y] = hand || this.cells[this.at].middle;
    this.dot.setAttribute("cx", x);
    this.dot.setAttribute("cy", y);
    for (const [name, needle] of Object.entries(this.needles)) {
      const v = place[name], inside = needle.inside(v), at = needle.y(v);
      ["y1", "y2"].forEach((a) => needle.needle.setAttribute(a, at));
      needle.needle.setAttribute("class", inside ? "needle" : "needle out");
      needle.value.setAttribute("y", Math.abs(at - needle.y(this.start[name])) < 18 ? at - this.way.lift : at + 5);
      needle.value.textContent = short(v);
    }
    this.svg.setAttribute("aria-valuenow", String(place.p));
    this.svg.setAttribute("aria-valuetext", `p ${short(place.p)}, strict strength ${short(place.z)}`);
    this.said.replaceChildren(...(place === this.start ? this.resting() : this.moved(place)));
  }

  resting() {
    return ["The record has not moved: the published p is ", el("b", {}, short(this.start.p)), ", the strict strength ", el("b", {}, short(this.start.z)), "."];
  }

  moved(place) {
    const {start, needles, given} = this, out = (needle, v) => needle.inside(v) ? "inside its bound" : "outside its bound";
    return ["The record moved the published p from ", el("b", {}, short(start.p)), " to ",
      el("b", {class: needles.p.inside(place.p) ? "found" : "false_positive"}, short(place.p)), `: ${out(needles.p, place.p)}, which is ${short(given.claim)} to either side. The strict strength went from `,
      el("b", {}, short(start.z)), " to ", el("b", {class: "found"}, short(place.z)), `: ${out(needles.z, place.z)} of ${short(given.bound)}.`];
  }
}
