// Generated from openapi.yaml by npm run generate. Do not edit.
export const operations = [
  {"operationId":"createPlant","method":"POST","path":"/plants"},
];
