if (DATA.explorer) explorer(DATA.explorer);
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("figure").forEach(takeaway);
/* A matrix of many classes needs more room than a curve. */
document.querySelectorAll(".pictures figure").forEach((figure) => figure.classList.toggle("wide", (figure.querySelector("svg")?.viewBox.baseVal.width ?? 0) > 520));
tooltips();
document.querySelectorAll("[data-shape]").forEach((mark) => mark.setAttribute("d", shapeOf(Number(mark.dataset.shape))(5.5)));
/* On a phone the contents would fill the first screen. */
if (matchMedia("(max-width: 64rem)").matches) document.querySelector("nav details").open = false;
/* What is folded is opened for the printer, and closed again. */
addEventListener("beforeprint", () => document.querySelectorAll("details.fold:not([open])").forEach((fold) => { fold.dataset.closed = ""; fold.open = true; }));
addEventListener("afterprint", () => document.querySelectorAll("details[data-closed]").forEach((fold) => { delete fold.dataset.closed; fold.open = false; }));
/* A link into a fold opens it. */
addEventListener("hashchange", () => { const fold = document.getElementById(location.hash.slice(1))?.closest("details"); if (fold) fold.open = true; });
