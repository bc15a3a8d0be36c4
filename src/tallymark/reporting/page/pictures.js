/* Pictures: numbers where the pointer is, and a way out of the page as SVG, PNG or data. */
function tooltips() {
  const tip = $("tip");
  document.addEventListener("pointermove", (event) => {
    const said = event.target.closest?.("figure svg [role='graphics-symbol'][aria-label]")?.getAttribute("aria-label");
    tip.hidden = !said;
    if (!said) return;
    tip.textContent = said.split("; ").map(shortPart).join("\n");
    const [w, h] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - w - 6)}px`;
    tip.style.top = `${event.clientY + 16 + h > innerHeight ? event.clientY - h - 8 : event.clientY + 16}px`;
  });
}

/* The drawing library writes numbers out in full. */
function shortPart(part) {
  return part.replace(/([-−]?\d+\.\d{5,})/g, (digits) => Number(Number(digits.replace("−", "-")).toPrecision(4)).toString().replace("-", MINUS));
}

/* A picture with the page's colours written into it, so that it looks the same elsewhere. */
function standalone(svg) {
  const copyOf = svg.cloneNode(true), style = getComputedStyle(document.documentElement);
  const box = svg.viewBox.baseVal;
  copyOf.setAttribute("width", box.width);
  copyOf.setAttribute("height", box.height);
  copyOf.removeAttribute("style");
  copyOf.setAttribute("xmlns", SVG);
  if (!copyOf.hasAttribute("font-family")) copyOf.setAttribute("font-family", "system-ui, sans-serif");
  const text = new XMLSerializer().serializeToString(copyOf).replace(/var\((--[\w]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  const paper = `<rect width="100%" height="100%" fill="${style.getPropertyValue("--paper").trim()}"/>`;
  return text.replace(/(<svg[^>]*>)/, `$1${paper}`);
}

function save(name, kind, text) {
  const link = document.createElement("a");
  link.href = kind === "png" ? text : URL.createObjectURL(new Blob([text], { type: kind === "svg" ? "image/svg+xml" : "text/csv" }));
  link.download = `${name.replace(/[^\w -]+/g, "").trim().replaceAll(" ", "-").toLowerCase() || "picture"}.${kind}`;
  link.dataset.saved = kind === "png" ? "png" : text;
  document.body.append(link);
  link.click();
  link.remove();
  return link;
}

function png(svg, done) {
  const image = new Image(), box = svg.viewBox.baseVal, times = 2;
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = times * box.width;
    canvas.height = times * box.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    done(canvas.toDataURL("image/png"));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
}

function takeaway(figure) {
  const svg = figure.querySelector("svg");
  if (!svg) return;
  const name = figure.dataset.title, menu = document.createElement("details"), summary = document.createElement("summary");
  menu.className = "save";
  summary.textContent = "save";
  summary.setAttribute("aria-label", `save the picture ${name}`);
  menu.append(summary);
  const ways = {
    SVG: () => save(name, "svg", standalone(svg)),
    PNG: () => png(svg, (url) => save(name, "png", url)),
  };
  const data = DATA.pictures[figure.dataset.picture];
  if (svg.plot) ways.data = () => save(name, "csv", csv([["model", ...svg.plot.titles], ...svg.plot.drawn]));
  if (data?.length) ways.data = () => save(name, "csv", data.map((part) => csv([Object.keys(part), ...Object.values(part)[0].map((_, k) => Object.values(part).map((column) => column[k] ?? ""))])).join("\n\n"));
  for (const [label, act] of Object.entries(ways)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => { act(); menu.open = false; summary.focus(); });
    menu.append(button);
  }
  figure.append(menu);
}
