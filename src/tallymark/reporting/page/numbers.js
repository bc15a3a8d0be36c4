/* How numbers are written: what tallymark/_numbers.py does, character by character (a test compares them). */
const THIN = "\u202f", MINUS = "\u2212";

/* toFixed, but a tie goes to the even digit, as in Python. */
function rounded(value, decimals) {
  const down = Math.floor(value * 10 ** decimals);
  return exactTie(value, decimals) ? ((down + (down % 2)) / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
}

/* Whether a double is exactly half way between two decimals: its expansion ends with a 5 there. */
function exactTie(value, decimals) {
  const digits = value.toFixed(Math.min(decimals + 30, 100)).split(".")[1] ?? "";
  return /^50*$/.test(digits.slice(decimals));
}

function fixed(value, decimals) {
  const text = rounded(Math.abs(value), decimals);
  let [whole, rest] = text.split(".");
  if (whole.length > 4) whole = whole.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  const sign = value < 0 && /[1-9]/.test(text) ? MINUS : "";
  return sign + whole + (rest === undefined ? "" : `.${rest}`);
}

function powers(value, digits) {
  let [mantissa, power] = value.toExponential(digits - 1).split("e");
  if (mantissa.includes(".")) mantissa = mantissa.replace(/0+$/, "").replace(/\.$/, "");
  return `${mantissa}e${Number(power)}`.replaceAll("-", MINUS);
}

/* `whole`: a number of things, which Python knows by its type. */
function shownNumber(value, whole = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15 && (size >= 1e4 || whole)) return fixed(value, 0);
  if (size >= 1e4 && size < 1e15) return fixed(value, 1);
  return size === 0 || (size >= 1e-3 && size < 1e4) ? fixed(value, 4) : powers(value, 4);
}

/* So many things, or one. */
function counted(value, thing) {
  return `${amount(value)} ${thing}${value === 1 ? "" : "s"}`;
}
function amount(value) {
  if (!Number.isFinite(value)) return shownNumber(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return fixed(value, 0);
  return size >= 10 && size < 1e9 ? fixed(value, 1) : significant(value, 3);
}

/* So many digits at the most, without noughts at the end. */
function significant(value, digits) {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : shownNumber(value);
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(value)));
  if (decimals > 7 || Math.abs(value) >= 1e9) return powers(value, digits);
  const text = fixed(value, Math.max(0, decimals));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function decimalsOf(low, high) {
  const half = (high - low) / 2;
  return Number.isFinite(half) && half > 0 ? Math.max(0, -Math.floor(Math.log10(half / 3.55))) : null;
}

function written(value, low, high) {
  const decimals = decimalsOf(low, high);
  if (decimals === null || !Number.isFinite(value)) return shownNumber(value);
  return decimals > 7 || Math.abs(value) >= 1e15 ? powers(value, 3) : fixed(value, decimals);
}

function between(low, high) {
  return [low, high].map((end) => written(end, low, high)).join(low < 0 ? " to " : "–");
}

function withLimits(value, low, high) {
  return low === null || high === null ? shownNumber(value) : `${written(value, low, high)} (${between(low, high)})`;
}

/* To three digits, and to as many more as it takes to tell it from all. */
function perCent(value) {
  const scaled = 100 * value;
  if (!(scaled > 99 && scaled < 100)) return `${significant(scaled, 3)} %`;
  return `${fixed(scaled, Math.min(Math.max(1, -Math.floor(Math.log10(100 - scaled))), 7)).replace(/0+$/, "")} %`;
}
