/** Control characters (C0, DEL and C1) and those that change the direction of text, but not line breaks and tabs. */
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes what could control a terminal or hide text in it. JSON keeps its value, because the escapes are JSON's. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
