// One dot per draw: links found to the right, false positives upwards. Dots move smoothly.
import {Picture, ease, sheet} from "./dom.js";

/** A fixed scatter for each draw, so that equal outcomes lie next to each other. */
function jitter(k) {
  const turn = k * 2.399963, far = 0.3 * Math.sqrt((k % 50) / 50);
  return [far * Math.cos(turn), far * Math.sin(turn)];
}

export class Dots extends Picture {
  /** @type {number[][]} */
  now = [];

  /** @param {{links: number, most: number, free: number, counts: any[], chosen: number | null}} view */
  show(view) {
    this.view = view;
    this.goal = view.counts.map((c, k) => {
      const [x, y] = jitter(k);
      return [c.found + x, c.false_positive + y];
    });
    if (this.still || this.now.length !== this.goal.length) this.now = this.goal.map((g) => [...g]);
    this.animate(() => {
      const far = ease(this.now, this.goal, 0.35);
      this.paint();
      return far > 0.01;
    });
  }

  paint() {
    const {view} = this, found = sheet(this.root, this.root.clientWidth < 320 ? 12 : 13);
    if (!found) return;
    const {pen, w, h, ink} = found;
    this.small = w < 320;
    const left = this.small ? 24 : 44, right = 16, top = this.small ? 20 : 26, low = h - (this.small ? 18 : 40);
    const x = (v) => left + (v + 0.5) * (w - left - right) / (view.links + 1);
    const y = (v) => low - (v + 0.5) * (low - top) / (view.most + 1);
    this.axes(pen, ink, x, y, {left, right: w - right, top, low});
    this.now.forEach((dot, k) => {
      pen.beginPath();
      pen.arc(x(dot[0]), y(dot[1]), this.small ? 3.5 : 5.5, 0, 7);
      pen.globalAlpha = view.chosen === null || view.chosen === k ? 0.8 : 0.25;
      pen.fillStyle = ink("--found");
      pen.fill();
      if (view.chosen === k) {
        pen.lineWidth = 2;
        pen.strokeStyle = ink("--st-text-color");
        pen.stroke();
      }
    });
    pen.globalAlpha = 1;
  }

  axes(pen, ink, x, y, box) {
    const {view, small} = this;
    pen.textAlign = "center";
    pen.lineWidth = 1;
    const every = Math.max(1, Math.ceil(view.links / (small ? 4 : 10)));
    for (let v = 0; v <= view.links; v += every) {
      pen.strokeStyle = ink("--st-border-color");
      pen.beginPath(); pen.moveTo(x(v), box.top); pen.lineTo(x(v), box.low); pen.stroke();
      pen.fillStyle = ink("--st-text-color");
      pen.fillText(String(v), x(v), box.low + 16);
    }
    const rise = Math.max(1, Math.ceil(view.most / Math.max(1, Math.min(small ? 3 : 5, Math.floor((box.low - box.top) / 16)))));
    pen.textAlign = "right";
    for (let v = 0; v <= view.most; v += rise) pen.fillText(String(v), box.left - 6, y(v) + 4);
    pen.textAlign = "center";
    if (!small) pen.fillText("links found", (box.left + box.right) / 2, box.low + 34);
    pen.textAlign = "left";
    pen.fillText(small ? "false positives ↑ found →" : "false positives", 4, 12);
    pen.setLineDash([4, 4]);
    pen.strokeStyle = ink("--st-text-color");
    pen.beginPath(); pen.moveTo(x(view.free), box.top - 4); pen.lineTo(x(view.free), box.low); pen.stroke();
    pen.setLineDash([]);
    if (small) return;
    pen.textAlign = "right";
    pen.fillText(view.free === view.links ? "all links (no privacy)" : "no privacy",
      x(view.free) + (view.free === view.links ? 12 : 0), 14);
  }
}
