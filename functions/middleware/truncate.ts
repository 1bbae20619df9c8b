/** Maximum length of a client's text in an error message, in characters. */
const MAX_LENGTH = 40;

/** Shortens a client's text. Replaces half of a surrogate pair, which `JSON.stringify` would escape. */
export function truncate(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()}…` : text;
}
