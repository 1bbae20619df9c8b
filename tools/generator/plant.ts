import type { Member } from './members.ts';

const TYPESCRIPT_TYPES = { int64: 'number | bigint', int32: 'number', string: 'string', boolean: 'boolean' };

/** Returns the code that converts a value to an attribute of DynamoDB. */
function toAttribute(type: Member['type'], value: string): string {
  if (type === 'string') return `{ S: ${value} }`;
  return type === 'boolean' ? `{ BOOL: ${value} }` : `{ N: String(${value}) }`;
}

/** Returns the code that converts an attribute to a value. */
function fromAttribute(type: Member['type'], attribute: string): string {
  if (type === 'int32') return `${attribute}?.N && Number(${attribute}.N)`;
  return `${attribute}?.${type === 'string' ? 'S' : type === 'boolean' ? 'BOOL' : 'N'}`;
}

/** Returns the TypeScript module with the types of a plant, and its conversion to an item of DynamoDB and back. */
export function plantModule(members: Member[]): string {
  const types = members.map(
    ({ name, type, isRequired }) => `${name}${isRequired ? '' : '?'}: ${TYPESCRIPT_TYPES[type]};`,
  );
  const toItem = members.map(({ name, type, isRequired }) => {
    const attribute = `${name}: ${toAttribute(type, `plant.${name}`)}`;
    return isRequired ? `${attribute},` : `...(plant.${name} !== undefined && { ${attribute} }),`;
  });
  const fromItem = members.map(({ name, type }) => `${name}: ${fromAttribute(type, `item['${name}']`)},`);
  return `// Generated from openapi.yaml by npm run generate. Do not edit.
import type { StoredItem } from '../dynamodb/client.ts';

/** A plant as a client sends it (openapi.yaml, \`NewPlant\`). The id is an int64: a bigint from 2^53 on. */
export interface NewPlant {
  ${types.join('\n  ')}
}

/** A plant as the service returns it (openapi.yaml, \`Plant\`). */
export type Plant = Omit<NewPlant, 'id'>;

/** Converts a plant to an item of the plants table. */
export function toItem(plant: NewPlant) {
  return {
    ${toItem.join('\n    ')}
  };
}

/** Returns the members of a stored plant, the id in decimal digits. A member that the item lacks is undefined. */
export function fromItem(item: StoredItem) {
  return {
    ${fromItem.join('\n    ')}
  };
}
`;
}
