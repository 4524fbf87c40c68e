// One total, three ways to spend it: coin by coin, more at the beginning, all at once.
import {paintCoins, paintTables} from "./coins.js";
import {Picture, counted, el, figure, range, sheet} from "./dom.js";
import {Dots} from "./dots.js";
import {Graph} from "./graph.js";
import {count, counts, frame, mean, most, nearest, read} from "./model.js";

const PACE = 22;      // answers a second, or as many as end within LONGEST seconds
const LONGEST = 18;
const PRELUDE = 26;   // duration of the purchase of tables, in answers, before the clock starts

export class Money extends Picture {
  least = 720;

  /** @param {{scene: any, titles: string[], layouts: any, purses: any, ways: any, epsilon: number, draw: number, digest: string}} given */
  async show(given) {
    if (!this.fresh(given)) { this.draw(); return; }
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
    this.graph = new Graph({role: "img", class: "picture"});
    this.dial = range("The total: epsilon", {max: this.model.epsilons.length - 1,
      oninput: () => this.turn(Number(this.dial.value)), onchange: () => this.rest()});
    this.clock = range("The clock: answers given", {min: -PRELUDE, max: 1, class: "clock",
      oninput: () => { this.stop(); this.t = Number(this.clock.value); this.draw(); }});
    this.value = el("b", {class: "value"});
    this.button = el("button", {class: "play", onclick: () => this.play()}, "▶ Spend");
    this.verdict = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.replaceChildren(el("div", {class: "desk"}, this.graph.svg, el("div", {class: "ways"}, ...this.columns.map((c) => c.node))),
      el("div", {class: "panel buttons"}, this.button, this.clock, this.dial, this.value), this.verdict);
    this.watch(() => this.draw());
  }

  column(key) {
    const graph = new Graph({"aria-hidden": "true", class: "mini"}), purse = el("canvas", {class: "purse", "aria-hidden": "true"});
    const canvas = el("canvas", {"aria-hidden": "true"}), said = el("p", {class: "said"});
    const title = this.model.methods.find((m) => m.key === key).title;
    graph.lay(this.model, this.given.layouts.wide);
    const choose = el("button", {}, `${title}: ${this.given.ways[key]}`), several = this.keys.length > 1;
    return {key, title, graph, purse, said, choose, dots: new Dots(canvas),
      node: el("div", {class: "way", onclick: () => { this.shown = key; this.draw(); }}, el("h3", {}, choose),
        el("div", {class: "till"}, ...(several ? [graph.svg] : []), purse, canvas), said)};
  }

  /** Show another total. A user at the end of the clock stays at the end. */
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
    this.animate((passed) => {
      if (!this.going || !this.root.isConnected) return this.going = false;
      this.t = Math.min(this.end, this.t + passed * Math.max(PACE, (this.end + PRELUDE) / LONGEST));
      this.going = this.t < this.end;
      this.draw();
      return this.going;
    });
    this.draw();
  }

  stop() { this.going = false; }
  rest() { this.hooks.rested({epsilon: this.model.epsilons[this.at]}); }

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
    this.graph.fit(this.model, this.given, this.fold());
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
    if (shown) this.graph.svg.setAttribute("aria-label", `${column.title}: ${column.said.textContent}`);
    const all = counts(this.model, column.key, this.at), widest = Math.max(...this.keys.map((key) => most(this.model, key)));
    column.dots.show({links: this.model.links, most: widest, free: count(this.model, frame(this.model, "pc", 0, 0)).found,
      counts: all, chosen: over ? this.given.draw : null});
  }

  /** Coins paid after so many answers; payments before the first answer run during the prelude. */
  paid(run, done) {
    const before = run.before.reduce((sum, [, coins]) => sum + coins, 0);
    return done ? run.coins[done - 1] : before * Math.max(0, Math.min(1, 1 + this.t / PRELUDE));
  }

  drawPurse(column, run, left) {
    const found = sheet(column.purse);
    if (!found) return;
    const {pen, w, h, ink} = found;
    const half = h * 0.54;
    paintCoins(pen, ink, left, {x: 0, y: 0, w, h: half});
    if (run.before.length && this.t > -PRELUDE) {
      paintTables(pen, ink, this.model.pairs.length, this.t >= 0 || this.still ? 1 : 1 + this.t / PRELUDE, {x: 0, y: half + 6, w, h: h - half - 6});
    }
  }

  words(column, run, done, paid, over) {
    const coins = el("b", {}, `${figure(paid)} of 100 coins`);
    if (over) {
      const c = count(this.model, frame(this.model, column.key, this.at, this.given.draw));
      const end = run.ended ? [] : [el("b", {class: "untested"}, ` The budget was exhausted: ${counted("untested", c.untested)}.`)];
      return [coins, ` for ${done} answers: `, el("b", {class: "found"}, counted("found", c.found, this.model.links)), ", ", el("b", {class: "false_positive"}, counted("false_positive", c.false_positive)), ".", ...end];
    }
    if (this.t < 0) return run.before.length ? [coins, " pay for noisy tables of counts before the first question."] : [coins, ". The questions have not begun."];
    const free = run.before.length ? " All of them are free." : "";
    return [coins, ` for ${done} of ${run.pairs.length} answers.${free}`];
  }

  /** Compare the three ways at this total, over all draws. */
  judge() {
    const all = Object.fromEntries(this.keys.map((key) => [key, counts(this.model, key, this.at)]));
    const of = (key, name) => mean(all[key], name), once = this.given.once, others = this.keys.filter((key) => key !== once);
    const title = (key) => this.model.methods.find((m) => m.key === key).title;
    const parts = this.keys.map((key) => `${title(key)} finds ${figure(of(key, "found"))}, with ${counted("false_positive", of(key, "false_positive"))}`);
    const finds = others.every((key) => of(once, "found") >= of(key, "found"));
    const honest = others.every((key) => of(once, "false_positive") <= of(key, "false_positive"));
    this.outcome = finds ? honest ? "once" : "more" : honest ? "less" : "lost";
    const end = {once: "Spending once wins here.", more: "Spending once finds most here, but another method has fewer false positives: it does not win.",
      less: "Spending once has the fewest false positives here, but another method finds more.", lost: "Spending once does not win here: another method finds more, with fewer false positives."}[this.outcome];
    this.root.dataset.state = JSON.stringify({epsilon: this.model.epsilons[this.at], outcome: this.outcome});
    const said = `Over ${all[once].length} draws, on average: ${parts.join("; ")}, of ${this.model.links} true links. `;
    if (this.spoken === said) return;
    this.spoken = said;
    this.verdict.replaceChildren(said, el("b", {}, others.length ? end : ""));
  }
}
