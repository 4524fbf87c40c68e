// A plan of a hundred coins over the orders: drag the margins, and see the coins move.
import {Asked, el, sheet} from "./dom.js";
import {short} from "./noise.js";

const COIN = 5.2, BASE = 44;

export class Plan {
  /** @param {HTMLElement} root @param {{rested?: (state: any) => void}} hooks */
  constructor(root, hooks = {}) {
    this.root = root;
    this.hooks = hooks;
    this.asked = new Asked();
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** Plans along each dial, the other where it is: one [order, tests, epsilon, coins] an order.
   * @param {{betas: number[], plans: {one: any[][], two: any[][]}, at: {one: number, two: number}, digest: string}} given */
  show(given) {
    this.given = given;
    if (!this.canvas) this.build();
    if (this.asked.other(place(given.at))) { this.at = {...given.at}; this.hand = "one"; }
    if (place(this.at) === place(given.at)) this.wait(false);  // else the answer to where the hand is by now is to come
    this.draw();
  }

  /** Along the other dial nothing is known until the page has answered. */
  wait(other) { for (const name of ["one", "two"]) this.dials[name].disabled = other && name !== this.hand; }

  build() {
    this.root.className = "scene plan-scene";
    this.canvas = el("canvas", {class: "noise", role: "img"});
    const dial = (name, label) => {
      const input = el("input", {type: "range", min: 0, step: 1, class: "dial", "aria-label": label, oninput: () => { this.hand = name; this.at[name] = Number(input.value); this.wait(true); this.draw(); },
        onchange: () => { const b = this.given.betas; this.asked.told(place(this.at)); if (this.hooks.rested) this.hooks.rested({beta1: b[this.at.one], beta2: b[this.at.two]}); }});
      return input;
    };
    this.dials = {one: dial("one", "Margin beta 1: how far from T deletions are told apart"), two: dial("two", "Margin beta 2: how far from T edges to keep are told apart")};
    this.values = {one: el("b"), two: el("b")};
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.replaceChildren(el("div", {class: "main"}, this.canvas, el("div", {class: "panel dials"},
      ...["one", "two"].map((name) => el("label", {}, this.values[name], this.dials[name]))), this.said));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  get plan() { return this.given.plans[this.hand][this.at[this.hand]]; }

  draw() {
    const {given, plan} = this;
    if (!this.canvas || !this.canvas.clientWidth) return;
    for (const [name, words] of [["one", "β₁"], ["two", "β₂"]]) {
      this.dials[name].max = String(given.betas.length - 1);
      this.dials[name].value = String(this.at[name]);
      this.values[name].textContent = `${words} = ${given.betas[this.at[name]]}`;
    }
    const first = plan[0], last = [...plan].reverse().find((row) => row[3] >= 0.5) || first;
    this.root.dataset.state = JSON.stringify({beta1: given.betas[this.at.one], beta2: given.betas[this.at.two], coins: plan.map((row) => row[3])});
    this.said.replaceChildren("Before the first test CURATE lays ", el("b", {class: "found"}, `${short(first[3])} of 100 coins`), ` on order 0: ε = ${short(first[2])} for each of its ${first[1].toLocaleString("en")} planned tests; a test of order ${last[0]} gets ${short(last[2])}.`);
    this.canvas.setAttribute("aria-label", plan.map((row) => `order ${row[0]}: ${short(row[3])} coins`).join(", "));
    this.goal = this.places();
    if (!this.now || this.still) this.now = this.goal.map((p) => [...p]);
    if (!this.moving) { this.moving = true; requestAnimationFrame(() => this.step()); }
  }

  /** Which order each of the hundred coins lies on, and how high: [column, height]. */
  places() {
    const heights = this.plan.map(() => 0);
    let column = 0, until = this.plan[0][3];
    return Array.from({length: 100}, (_, k) => {
      while (k + 0.5 > until && column < this.plan.length - 1) until += this.plan[++column][3];
      return [column, heights[column]++];
    });
  }

  step() {
    let far = 0;
    this.now.forEach((coin, k) => [0, 1].forEach((axis) => {
      const gap = this.goal[k][axis] - coin[axis];
      coin[axis] += gap * 0.25;
      far = Math.max(far, Math.abs(gap));
    }));
    this.paint();
    this.moving = far > 0.02 && this.root.isConnected;
    if (this.moving) requestAnimationFrame(() => this.step());
  }

  paint() {
    const got = sheet(this.canvas);
    if (!got) return;
    const {pen, w, h} = got, style = getComputedStyle(this.root), ink = (name) => style.getPropertyValue(name).trim();
    const wide = w / this.plan.length, across = 4, floor = h - BASE, font = ink("--st-font") || "sans-serif";
    const step = Math.min(2.3 * COIN, (floor - 8) / Math.ceil(100 / across));
    pen.font = `14px ${font}`;
    const room = pen.measureText("order 0").width + 8 < wide;  // on a phone the numbers stand alone
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

/** Both dials in a word. @param {{one: number, two: number}} at */
function place(at) { return `${at.one} ${at.two}`; }
