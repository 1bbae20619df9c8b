import { afterAll } from 'vitest';

/** Returns a resource of a test file, and closes it after the file's tests. */
export function closedAtEnd<Resource extends { close(): unknown }>(resource: Resource): Resource {
  afterAll(async () => void (await resource.close()));
  return resource;
}
