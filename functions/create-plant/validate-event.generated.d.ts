/* Written by hand: `npm run generate` writes only the JavaScript file. */

/** Validates an event, whose body must be a NewPlant. The reasons for a failure are in `errors`. */
declare const validateEvent: import('ajv').ValidateFunction;
export default validateEvent;
