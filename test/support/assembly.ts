import { inject } from 'vitest';
import { readTemplate, type Template } from '../../tools/local/template.ts';

/** Returns the folder of the cloud assembly that all tests share. Throws if the stack cannot be synthesized. */
export async function sharedAssembly(): Promise<string> {
  const response = await fetch(inject('assemblyUrl'));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Returns the synthesized template that all tests share. */
export const sharedTemplate = async (): Promise<Template> => readTemplate(await sharedAssembly());
