// Generated from openapi.yaml by npm run generate. Do not edit.
export declare const operations: import('./contract-checks.ts').CheckedOperation[];
