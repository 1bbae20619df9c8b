// Generated from openapi.yaml by scripts/generate.ts (npm run generate). Do not edit.

export interface NewPlant {
  id: bigint;
  name: string;
  tag?: string;
}

export interface Plant {
  name: string;
  tag?: string;
}

export interface Error {
  error: number;
  message: string;
}

/** Tells whether an event's parsed body is a NewPlant; says why not in `errors`. */
declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;
export default validate;
