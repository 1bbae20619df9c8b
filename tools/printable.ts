/** Control characters (C0, DEL and C1) and those that change the direction of text, but not line breaks and tabs. */
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes what could control a terminal or hide text in it. JSON keeps its value, because the escapes are JSON's. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns a time as in `2026-01-31T12:00:00Z`. */
export function isoTime(secondsSince1970: number): string {
  const date = new Date(secondsSince1970 * 1000);
  // Another program can have stored a time that no Date has, and `toISOString` would throw.
  if (Number.isNaN(date.getTime())) return `${secondsSince1970} s`;
  return date.toISOString().replace('.000', '');
}
