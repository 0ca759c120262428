// Formats amounts for display.

/** A duration in nanoseconds with three significant digits: `1.20 ms`. */
export function duration(nanos: number): string {
  const size = Math.abs(nanos);
  if (size < 1e3) return `${Math.round(nanos)} ns`;
  if (size < 999_500) return `${digits(nanos / 1e3)} µs`;
  if (size < 999_500_000) return `${digits(nanos / 1e6)} ms`;
  if (size < 120e9) return `${digits(nanos / 1e9)} s`;
  const seconds = Math.round(size / 1e9);
  const sign = nanos < 0 ? "-" : "";
  const minutes = `${sign}${Math.floor(seconds / 60) % 60} min ${seconds % 60} s`;
  return seconds < 3600 ? minutes : `${sign}${Math.floor(seconds / 3600)} h ${minutes}`;
}

/** A time since the start in nanoseconds: `12.345 678 s`. */
export function sinceStart(nanos: number): string {
  const text = (nanos / 1e9).toFixed(6);
  return `${text.slice(0, -3)}\u2009${text.slice(-3)} s`;
}

/** A size in bytes with a binary unit: `1.5 KiB`. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = count;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(size) : digits(size)} ${units[unit]}`;
}

/** A count with thousands separators: `12,345`. */
export function count(number: number): string {
  return COUNTS.format(Math.round(number));
}

/** Shared, because creating a formatter takes longer than a thousand uses. */
const COUNTS = new Intl.NumberFormat("en");

/** A fraction from 0 to 1 as a percentage: `12 %`. */
export function share(part: number): string {
  const percent = part * 100;
  return percent > 0 && percent < 1 ? "<1 %" : `${Math.round(percent)} %`;
}

/** A number of events per second: `92/s`. */
export function rate(perSecond: number): string {
  return `${perSecond >= 1000 ? count(perSecond) : digits(perSecond)}/s`;
}

/** A mean with one decimal place: `3.5`. */
export function mean(number: number): string {
  return number.toFixed(1);
}

/** A count with its noun: `1 message`, `2 messages`. */
export function counted(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The local date and time of nanoseconds since 1970. */
export function timeOfDay(nanos: bigint): string {
  const date = new Date(Number(nanos / 1_000_000n));
  const micros = String((nanos / 1000n) % 1_000_000n).padStart(6, "0");
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time}.${micros}`;
}

function digits(number: number): string {
  const size = Math.abs(number);
  if (size >= 99.95) return Math.round(number).toLocaleString("en");
  return number.toFixed(size >= 9.995 ? 1 : 2);
}
