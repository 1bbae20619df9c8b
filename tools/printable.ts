/** Control characters (C0, DEL and C1), and those that change the direction of text. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Escapes what could control a terminal or hide text in it. JSON keeps its value, because the escapes are JSON's.
 *
 * @param kept characters that are not escaped
 */
export function printable(text: string, kept = '\n\t'): string {
  return text.replaceAll(CONTROLS, (control) =>
    kept.includes(control) ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
