// One total, three ways to spend it: coin by coin, more at the beginning, all at once.
import {paintCoins, paintTables} from "./coins.js";
import {counted, el, figure, sheet, svgRoot} from "./dom.js";
import {Dots} from "./dots.js";
import {Graph, fitting} from "./graph.js";
import {count, counts, frame, mean, most, nearest, read} from "./model.js";

const PACE = 22;      // answers a second, or as many as end within LONGEST seconds
const LONGEST = 18;
const PRELUDE = 26;   // answers that the purchase of tables lasts, before the clock begins
const NARROW = 720;   // CSS pixels below which the ways stand below the graph

export class Money {
  /** @param {HTMLElement} root @param {{rested?: (state: any) => void}} hooks */
  constructor(root, hooks = {}) {
    this.root = root;
    this.hooks = hooks;
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** @param {{scene: any, titles: string[], layouts: any, purses: any, ways: any, epsilon: number, draw: number, digest: string}} given */
  async show(given) {
    if (given.digest === this.digest) { this.draw(); return; }
    this.digest = given.digest;
    this.given = given;
    this.model = await read(given.scene);
    this.keys = Object.keys(given.purses);
    this.at = nearest(this.model, given.epsilon);
    this.build();
    this.again();
  }

  build() {
    this.root.className = "scene money";
    this.columns = this.keys.map((key) => this.column(key));
    this.shown = this.keys[0];
    this.picture = svgRoot({role: "img", class: "picture"});
    this.graph = new Graph(this.picture, () => {});
    const n = this.model.epsilons.length;
    this.dial = el("input", {type: "range", min: 0, max: n - 1, step: 1, class: "dial", "aria-label": "The total: epsilon",
      oninput: () => this.turn(Number(this.dial.value)), onchange: () => this.rest()});
    this.clock = el("input", {type: "range", min: -PRELUDE, max: 1, step: 1, class: "clock", "aria-label": "The clock: answers given",
      oninput: () => { this.stop(); this.t = Number(this.clock.value); this.draw(); }});
    this.value = el("b", {class: "value"});
    this.button = el("button", {class: "play", onclick: () => this.play()}, "▶ Spend");
    this.verdict = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.replaceChildren(el("div", {class: "desk"}, this.picture, el("div", {class: "ways"}, ...this.columns.map((c) => c.node))),
      el("div", {class: "panel buttons"}, this.button, this.clock, this.dial, this.value), this.verdict);
    if (this.watch) this.watch.disconnect();
    this.watch = new ResizeObserver(() => { this.root.classList.toggle("narrow", this.root.clientWidth < NARROW); this.draw(); });
    this.watch.observe(this.root);
  }

  column(key) {
    const svg = svgRoot({"aria-hidden": "true", class: "mini"}), purse = el("canvas", {class: "purse", "aria-hidden": "true"});
    const canvas = el("canvas", {"aria-hidden": "true"}), said = el("p", {class: "said"});
    const title = this.model.methods.find((m) => m.key === key).title;
    const graph = new Graph(svg, () => {});
    graph.lay(this.model, this.given.titles, this.given.layouts.small);
    const choose = el("button", {}, `${title}: ${this.given.ways[key]}`), several = this.keys.length > 1;
    return {key, title, graph, purse, said, choose, dots: new Dots(canvas, () => getComputedStyle(this.root)),
      node: el("div", {class: "way", onclick: () => { this.shown = key; this.draw(); }}, el("h2", {}, choose),
        el("div", {class: "till"}, ...(several ? [svg] : []), purse, canvas), said)};
  }

  /** The boxes where the chosen way's graph has the largest letters. */
  place() {
    const layout = fitting(this.given.layouts, this.picture, this.root.clientWidth < NARROW);
    if (this.graph.layout !== layout) this.graph.lay(this.model, this.given.titles, layout);
  }

  /** Another total; who looks at the end goes on looking at the end. */
  turn(at) {
    const over = this.t >= this.end;
    this.at = at;
    if (over) this.t = this.end;
    this.draw();
  }

  run(key) { return this.given.purses[key][this.at]; }
  get end() { return Math.max(...this.keys.map((key) => this.run(key).pairs.length)); }

  again() { this.t = this.still ? this.end : -PRELUDE; this.draw(); if (!this.still) this.play(); }

  play() {
    if (this.going) { this.stop(); this.draw(); return; }
    if (this.t >= this.end) this.t = -PRELUDE;
    this.going = true;
    let last = null;
    const step = (now) => {
      if (!this.going || !this.root.isConnected) { this.going = false; return; }
      this.t += last === null ? 0 : Math.min(0.1, (now - last) / 1000) * Math.max(PACE, (this.end + PRELUDE) / LONGEST);
      last = now;
      if (this.t >= this.end) { this.t = this.end; this.going = false; }
      this.draw();
      if (this.going) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    this.draw();
  }

  stop() { this.going = false; }
  rest() { if (this.hooks.rested) this.hooks.rested({epsilon: this.model.epsilons[this.at]}); }

  draw() {
    if (!this.columns || !this.root.clientWidth) return;
    this.clock.max = String(this.end);
    this.t = Math.min(this.t, this.end);
    this.clock.value = String(Math.round(this.t));
    this.clock.setAttribute("aria-valuetext", `after ${Math.max(0, Math.floor(this.t))} answers`);
    this.dial.value = String(this.at);
    this.dial.setAttribute("aria-valuetext", `epsilon ${this.model.epsilons[this.at]}`);
    this.value.textContent = `100 coins = ε ${this.model.epsilons[this.at]}`;
    this.button.textContent = this.going ? "Pause" : "▶ Spend";
    this.place();
    for (const column of this.columns) this.drawWay(column);
    this.judge();
  }

  drawWay(column) {
    const run = this.run(column.key), done = Math.max(0, Math.min(run.pairs.length, Math.floor(this.t)));
    const over = done === run.pairs.length, states = frame(this.model, column.key, this.at, this.given.draw);
    const gone = new Set();
    for (let k = 0; k < done; k++) if (run.decisions[k] === "i") gone.add(run.pairs[k]);
    const asked = over || this.t < 0 ? null : run.pairs[done];
    const look = (p) => over ? column.graph.single(p, states[p]) :
      {kind: "open", opacity: gone.has(p) ? 0 : p === asked ? 1 : 0.4, forth: 0, back: 0};
    const shown = column.key === this.shown;
    for (const graph of shown ? [column.graph, this.graph] : [column.graph]) graph.paint(look, asked);
    column.node.classList.toggle("shown", shown);
    column.choose.setAttribute("aria-pressed", String(shown));
    const paid = this.paid(run, done);
    this.drawPurse(column, run, 100 - paid);
    column.said.replaceChildren(...this.words(column, run, done, paid, over));
    if (shown) this.picture.setAttribute("aria-label", `${column.title}: ${column.said.textContent}`);
    const all = counts(this.model, column.key, this.at), widest = Math.max(...this.keys.map((key) => most(this.model, key)));
    column.dots.show({links: this.model.links, most: widest, free: count(this.model, frame(this.model, "pc", 0, 0)).found,
      counts: all, chosen: over ? this.given.draw : null});
  }

  /** Coins paid once so many answers are given; what is bought before the first pours out in the prelude. */
  paid(run, done) {
    const before = run.bought.reduce((sum, [, coins]) => sum + coins, 0);
    return done ? run.coins[done - 1] : before * Math.max(0, Math.min(1, 1 + this.t / PRELUDE));
  }

  drawPurse(column, run, left) {
    const found = sheet(column.purse);
    if (!found) return;
    const {pen, w, h} = found, style = getComputedStyle(this.root), ink = (name) => style.getPropertyValue(name).trim();
    const half = h * 0.54;
    paintCoins(pen, ink, left, {x: 0, y: 0, w, h: half});
    if (run.bought.length && this.t > -PRELUDE) {
      paintTables(pen, ink, this.model.pairs.length, this.t >= 0 || this.still ? 1 : 1 + this.t / PRELUDE, {x: 0, y: half + 6, w, h: h - half - 6});
    }
  }

  words(column, run, done, paid, over) {
    const coins = el("b", {}, `${figure(paid)} of 100 coins`);
    if (over) {
      const c = count(this.model, frame(this.model, column.key, this.at, this.given.draw));
      const end = run.ended ? [] : [el("b", {class: "untested"}, ` The purse was empty: ${counted("untested", c.untested)}.`)];
      return [coins, ` for ${done} answers: `, el("b", {class: "found"}, counted("found", c.found, this.model.links)), ", ", el("b", {class: "false_positive"}, counted("false_positive", c.false_positive)), ".", ...end];
    }
    if (this.t < 0) return run.bought.length ? [coins, " go for noisy tables of counts, before any question is asked."] : [coins, ". The questions have not begun."];
    const free = run.bought.length ? " All of them free." : "";
    return [coins, ` for ${done} of ${run.pairs.length} answers.${free}`];
  }

  /** What spending once is worth at this total, from all draws. */
  judge() {
    const all = Object.fromEntries(this.keys.map((key) => [key, counts(this.model, key, this.at)]));
    const of = (key, name) => mean(all[key], name), once = this.given.once, others = this.keys.filter((key) => key !== once);
    const title = (key) => this.model.methods.find((m) => m.key === key).title;
    const parts = this.keys.map((key) => `${title(key)} finds ${figure(of(key, "found"))}, with ${counted("false_positive", of(key, "false_positive"))}`);
    const finds = others.every((key) => of(once, "found") >= of(key, "found"));
    const honest = others.every((key) => of(once, "false_positive") <= of(key, "false_positive"));
    this.outcome = finds ? honest ? "once" : "more" : honest ? "less" : "lost";
    const end = {once: "Spending once wins here.", more: "Spending once finds most here, but it invents more than one of the others: it does not win.",
      less: "Spending once invents least here, but it does not find most.", lost: "Spending once does not win here: another finds more and invents less."}[this.outcome];
    this.root.dataset.state = JSON.stringify({epsilon: this.model.epsilons[this.at], outcome: this.outcome});
    const said = `Over ${all[once].length} draws, on average: ${parts.join("; ")}, of ${this.model.links} true links. `;
    if (this.spoken === said) return;
    this.spoken = said;
    this.verdict.replaceChildren(said, el("b", {}, others.length ? end : ""));
  }
}
