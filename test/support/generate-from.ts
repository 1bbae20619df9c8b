import { generatedFiles } from '../../tools/generate.ts';

/** Generates from a contract with these schemas. By default, Plant has only a name. */
export function generateFrom(NewPlant: object, Plant: object = { properties: { name: { type: 'string' } } }) {
  return generatedFiles(JSON.stringify({ components: { schemas: { NewPlant, Plant } } }));
}

/** Generates and loads the validator of a NewPlant with an id, and a name of this schema. */
export async function validatorWith(name: object): Promise<(event: unknown) => boolean> {
  const id = { type: 'integer', format: 'int64', example: 1 };
  const Plant = { type: 'object', required: ['name'], properties: { name } };
  const files = generateFrom({ required: ['id'], properties: { id }, allOf: [Plant] }, Plant);
  const code = String(files['functions/create-plant/validate-event.generated.ts'])
    // A data: URL cannot import a package by its name.
    .replace('"re2js"', JSON.stringify(import.meta.resolve('re2js')));
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
}
