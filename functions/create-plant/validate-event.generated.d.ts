/** Validates an event, whose body must be a NewPlant. The reasons for a failure are in `errors`. */
declare const validateEvent: import('ajv').ValidateFunction;
export default validateEvent;
