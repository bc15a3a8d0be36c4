/* Small pictures drawn by the page: axes, lines, bands, marks. */
const SVG = "http://www.w3.org/2000/svg";
const DASHES = ["", "6 3", "2 2", "8 3 2 3", "4 4", "1 3", "10 4"];
const COLOURS = 10;

/* The marks of models, in the order of the charts' theme. */
const SHAPES = [
  (r) => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.2 * r}L${1.1 * r} ${0.8 * r}H${-1.1 * r}Z`,
  (r) => `M0 ${-1.35 * r}L${1.1 * r} 0L0 ${1.35 * r}L${-1.1 * r} 0Z`,
  (r) => `M${-r / 3} ${-r}H${r / 3}V${-r / 3}H${r}V${r / 3}H${r / 3}V${r}H${-r / 3}V${r / 3}H${-r}V${-r / 3}H${-r / 3}Z`,
  (r) => `M0 ${1.2 * r}L${1.1 * r} ${-0.8 * r}H${-1.1 * r}Z`,
  (r) => `M${1.2 * r} 0L${-0.8 * r} ${1.1 * r}V${-1.1 * r}Z`,
  (r) => `M${-1.2 * r} 0L${0.8 * r} ${1.1 * r}V${-1.1 * r}Z`,
];

const colourOf = (i) => `var(--m${i % COLOURS})`;
const dashOf = (i) => DASHES[(i + Math.floor(i / COLOURS)) % DASHES.length];
const shapeOf = (i) => SHAPES[i % SHAPES.length];

function svgElement(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/* Scales take a value to a share of the axis. */
const linear = (low, high) => (v) => (v - low) / (high - low || 1);
const logarithmic = (low, high) => (v) => (Math.log(Math.max(v, low)) - Math.log(low)) / (Math.log(high) - Math.log(low));

class Plot {
  constructor(svg, { x, y, xTicks, yTicks, xTitle, yTitle, height = 250 }) {
    // Labels of the left axis need room beside its title.
    const longest = Math.max(0, ...yTicks.map(([, label]) => label.length));
    Object.assign(this, { svg, x, y, left: Math.max(46, 24 + 6.6 * longest), right: 340, top: 10, bottom: height - 40 });
    Object.assign(this, { titles: [xTitle, yTitle], drawn: [] });
    svg.plot = this;
    svg.setAttribute("viewBox", `0 0 352 ${height}`);
    svg.replaceChildren();
    const text = { fill: "var(--ink)", "font-size": 11 };
    let end = -Infinity;
    for (const [value, label] of xTicks) {
      const at = this.px(value), half = 3.4 * label.length;
      svgElement(svg, "path", { d: `M${at} ${this.top}V${this.bottom}`, stroke: "var(--grid)" });
      // A label that would run into the one before is left out.
      if (at - half < end + 4) continue;
      end = at + half;
      svgElement(svg, "text", { ...text, x: at, y: this.bottom + 15, "text-anchor": at > this.right - 14 ? "end" : "middle" }, label);
    }
    for (const [value, label] of yTicks) {
      const at = this.py(value);
      svgElement(svg, "path", { d: `M${this.left} ${at}H${this.right}`, stroke: "var(--grid)" });
      svgElement(svg, "text", { ...text, x: this.left - 5, y: at + 4, "text-anchor": "end" }, label);
    }
    svgElement(svg, "text", { ...text, x: (this.left + this.right) / 2, y: height - 6, "text-anchor": "middle" }, xTitle);
    const middle = (this.top + this.bottom) / 2;
    if (yTitle) svgElement(svg, "text", { ...text, x: 10, y: middle, "text-anchor": "middle", transform: `rotate(-90 10 ${middle})` }, yTitle);
    // Lines leave the picture at its edges: a value outside is neither moved to the edge nor left out.
    const clip = svgElement(svg, "clipPath", { id: `${svg.id}-inside` });
    svgElement(clip, "rect", { x: this.left - 2, y: this.top - 2, width: this.right - this.left + 4, height: this.bottom - this.top + 4 });
    this.clip = `url(#${svg.id}-inside)`;
    this.lines = svgElement(svg, "g", {});
    this.marks = svgElement(svg, "g", {});
  }
  px(v) { return this.left + (this.right - this.left) * Math.min(Math.max(this.x(v), 0), 1); }
  py(v) { return this.bottom - (this.bottom - this.top) * Math.min(Math.max(this.y(v), 0), 1); }
  path(points) {
    const far = (share) => Math.min(Math.max(share, -50), 50);
    return points.map(([x, y], k) => `${k ? "L" : "M"}${(this.left + (this.right - this.left) * far(this.x(x))).toFixed(1)} ${(this.bottom - (this.bottom - this.top) * far(this.y(y))).toFixed(1)}`).join("");
  }
  /* A model's line; those of models that were not chosen are thin and grey. */
  line(points, i, chosen = true) {
    this.drawn.push(...points.map((point) => [DATA.explorer.models[i].name, ...point]));
    const look = chosen ? { stroke: colourOf(i), "stroke-width": 2.4, "stroke-dasharray": dashOf(i) } : { stroke: "var(--missed)", "stroke-width": 1.2 };
    if (points.length) svgElement(this.lines, "path", { ...look, d: this.path(points), fill: "none", class: "curve", "clip-path": this.clip });
  }
  /* Names of models beside their marks: where there is room, and not over each other. */
  names(marked) {
    const taken = [];
    for (const [x, y, i] of marked) {
      const name = DATA.explorer.models[i].name, text = name.length > 24 ? `${name.slice(0, 23)}…` : name, wide = 6.4 * text.length;
      const [px, py] = [this.px(x), this.py(y)], left = px + 10 + wide > this.right;
      const clear = (at) => taken.every(([from, to, line]) => Math.abs(line - at) > 13 || px > to || px + wide < from);
      const lines = [py + 4, py + 20, py - 12, py + 36, py - 28].filter((at) => at > this.top + 8 && at < this.bottom - 2);
      const at = lines.find(clear) ?? py + 4;
      taken.push(left ? [px - 10 - wide, px, at] : [px, px + 10 + wide, at]);
      svgElement(this.marks, "text", { x: left ? px - 9 : px + 9, y: at, "text-anchor": left ? "end" : "start", "font-size": 11.5, "font-weight": 600, fill: colourOf(i), stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke", class: "name" }, text);
    }
  }
  faint(points, dash = "3 3") { svgElement(this.lines, "path", { d: this.path(points), stroke: "var(--faint)", "stroke-dasharray": dash, fill: "none", "clip-path": this.clip }); }
  band(xs, lows, highs, i) {
    const there = xs.map((x, k) => [x, lows[k], highs[k]]).filter((p) => p.every((v) => v !== null));
    if (!there.length) return;
    const d = this.path([...there.map(([x, low]) => [x, low]), ...there.map(([x, , high]) => [x, high]).reverse()]);
    svgElement(this.lines, "path", { d: `${d}Z`, fill: colourOf(i), opacity: 0.13, class: "band", "clip-path": this.clip });
  }
  mark(x, y, i, said) {
    const made = svgElement(this.marks, "path", {
      d: shapeOf(i)(5.5), transform: `translate(${this.px(x)} ${this.py(y)})`, fill: "var(--paper)", stroke: colourOf(i), "stroke-width": 2.5,
      class: "point", "data-x": x, "data-y": y, "aria-label": said, role: "graphics-symbol",
    });
    return made;
  }
  /* Why a picture is empty. */
  say(text) {
    const words = text.split(" "), lines = [""];
    for (const word of words) { if ((lines[lines.length - 1] + word).length > 42) lines.push(""); lines[lines.length - 1] += `${word} `; }
    lines.forEach((line, k) => svgElement(this.lines, "text", { x: (this.left + this.right) / 2, y: this.top + 60 + 16 * k, "text-anchor": "middle", "font-size": 12, fill: "var(--ink)" }, line.trim()));
  }
  rule(x, label) {
    const at = this.px(x);
    svgElement(this.marks, "path", { d: `M${at} ${this.top}V${this.bottom}`, stroke: "var(--ink)", "stroke-dasharray": "4 3", class: "rule", "data-x": x });
    if (label) svgElement(this.marks, "text", { x: at > 240 ? at - 5 : at + 5, y: this.top + 10, "font-size": 11, fill: "var(--ink)", "text-anchor": at > 240 ? "end" : "start" }, label);
  }
}

const shares = [0, 0.25, 0.5, 0.75, 1].map((v) => [v, `${100 * v} %`]);

function powersOfTen(least) {
  const ticks = [];
  for (let k = Math.ceil(Math.log10(least) - 1e-9); k <= 0; k++) ticks.push([10 ** k, perCent(10 ** k)]);
  return ticks;
}

/* Round numbers for an axis, at most about five. */
function roundTicks(low, high) {
  const span = high - low || 1, raw = span / 4, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) ticks.push([v, Number(v.toPrecision(6)) === 0 ? "0" : String(Number(v.toPrecision(6))).replace("-", MINUS)]);
  return ticks;
}
