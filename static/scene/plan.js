// A plan of a hundred coins over the orders: drag the margins, and see the coins move.
import {Picture, ease, el, sheet} from "./dom.js";
import {short} from "./noise.js";

const COIN = 5.2, BASE = 44;

export class Plan extends Picture {
  /** Plans along each dial, the other where it is: one [order, tests, epsilon, coins] an order.
   * @param {{betas: number[], plans: {one: any[][], two: any[][]}, at: {one: number, two: number}, digest: string}} given */
  show(given) {
    this.given = given;
    if (!this.canvas) this.build();
    if (this.asked.other(place(given.at))) Object.assign(this, {...given.at, hand: "one"});
    if (place(this) === place(given.at)) this.wait(false);  // else a newer answer from the page is still to come
    this.draw();
  }

  /** The values along the other dial are unknown until the page answers. */
  wait(other) { for (const name of ["one", "two"]) this.dials[name].disabled = other && name !== this.hand; }

  build() {
    this.root.className = "scene plan-scene";
    this.canvas = el("canvas", {class: "noise", role: "img"});
    const rows = this.rows({one: "Margin beta 1: removed edges lie this far from T", two: "Margin beta 2: kept edges lie this far from T"},
      (name) => { this.hand = name; this.wait(true); this.draw(); });
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.replaceChildren(el("div", {class: "main"}, this.canvas, el("div", {class: "panel dials"}, ...rows), this.said));
    this.watch(() => this.draw(), this.canvas);
  }

  rest() {
    this.asked.told(place(this));
    this.hooks.rested(this.margins);
  }

  get margins() { const b = this.given.betas; return {beta1: b[this.one], beta2: b[this.two]}; }

  get plan() { return this.given.plans[this.hand][this[this.hand]]; }

  draw() {
    const {given, plan} = this;
    if (!this.canvas.clientWidth) return;
    for (const [name, words] of [["one", "β₁"], ["two", "β₂"]]) this.stand(name, given.betas.length, `${words} = ${given.betas[this[name]]}`);
    const first = plan[0], last = [...plan].reverse().find((row) => row[3] >= 0.5) || first;
    this.root.dataset.state = JSON.stringify({...this.margins, coins: plan.map((row) => row[3])});
    this.said.replaceChildren("Before the first test CURATE puts ", el("b", {class: "found"}, `${short(first[3])} of 100 coins`), ` on order 0: ε = ${short(first[2])} for each of its ${first[1].toLocaleString("en")} planned tests; a test of order ${last[0]} gets ${short(last[2])}.`);
    this.canvas.setAttribute("aria-label", plan.map((row) => `order ${row[0]}: ${short(row[3])} coins`).join(", "));
    this.goal = this.places();
    if (!this.now || this.still) this.now = this.goal.map((p) => [...p]);
    this.animate(() => {
      const far = ease(this.now, this.goal, 0.25);
      this.paint();
      return far > 0.02;
    });
  }

  /** The order and height of each of the hundred coins: [column, height]. */
  places() {
    const heights = this.plan.map(() => 0);
    let column = 0, until = this.plan[0][3];
    return Array.from({length: 100}, (_, k) => {
      while (k + 0.5 > until && column < this.plan.length - 1) until += this.plan[++column][3];
      return [column, heights[column]++];
    });
  }

  paint() {
    const got = sheet(this.canvas);
    if (!got) return;
    const {pen, w, h, ink} = got;
    const wide = w / this.plan.length, across = 4, floor = h - BASE;
    const step = Math.min(2.3 * COIN, (floor - 8) / Math.ceil(100 / across));
    const room = pen.measureText("order 0").width + 8 < wide;  // a phone shows only the numbers
    pen.fillStyle = pen.strokeStyle = ink("--st-text-color");
    pen.beginPath(); pen.moveTo(0, floor); pen.lineTo(w, floor); pen.stroke();
    pen.textAlign = "center";
    this.plan.forEach((row, k) => {
      pen.fillText(room || k === 0 ? `order ${row[0]}` : String(row[0]), (k + 0.5) * wide, floor + 18);
      pen.fillText(`${short(row[3])}`, (k + 0.5) * wide, floor + 36);
    });
    pen.fillStyle = ink("--coin");
    for (const [column, height] of this.now) {
      const left = (column + 0.5) * wide - (across - 1) * step / 2, at = Math.round(height);
      pen.beginPath(); pen.arc(left + (at % across) * step, floor - COIN - 2 - (height - at % across) / across * step, COIN * Math.min(1, step / (2.3 * COIN)), 0, 7); pen.fill();
    }
  }
}

/** Name the place of both dials. @param {{one: number, two: number}} at */
function place(at) { return `${at.one} ${at.two}`; }
