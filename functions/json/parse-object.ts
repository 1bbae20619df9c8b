/**
 * Parses a JSON object. Returns an empty object for null and for text that is not JSON. Never throws, because the error
 * would quote the text.
 */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
