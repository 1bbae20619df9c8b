// Generated from openapi.yaml by npm run generate. Do not edit.
// @ts-nocheck because Ajv's code has no types.
// <stdin>
var validate = validate20;
var stdin_default = validate20;
var schema31 = { "type": "object", "required": ["body"], "properties": { "body": { "type": "object", "required": ["id", "name"], "properties": { "id": { "int64": true }, "name": { "type": "string", "wellFormed": true }, "tag": { "type": "string", "wellFormed": true } } } } };
function validate20(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate20.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = void 0;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = void 0;
  }
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.body === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "body" }, message: "must have required property 'body'", schema: schema31.required, parentSchema: schema31, data };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.body !== void 0) {
      let data0 = data.body;
      if (data0 && typeof data0 == "object" && !Array.isArray(data0)) {
        if (data0.id === void 0) {
          const err1 = { instancePath: instancePath + "/body", schemaPath: "#/properties/body/required", keyword: "required", params: { missingProperty: "id" }, message: "must have required property 'id'", schema: schema31.properties.body.required, parentSchema: schema31.properties.body, data: data0 };
          if (vErrors === null) {
            vErrors = [err1];
          } else {
            vErrors.push(err1);
          }
          errors++;
        }
        if (data0.name === void 0) {
          const err2 = { instancePath: instancePath + "/body", schemaPath: "#/properties/body/required", keyword: "required", params: { missingProperty: "name" }, message: "must have required property 'name'", schema: schema31.properties.body.required, parentSchema: schema31.properties.body, data: data0 };
          if (vErrors === null) {
            vErrors = [err2];
          } else {
            vErrors.push(err2);
          }
          errors++;
        }
        if (data0.id !== void 0) {
          let data1 = data0.id;
          if (typeof data1 === "bigint" ? BigInt.asIntN(64, data1) !== data1 : !Number.isInteger(data1)) {
            const err3 = { instancePath: instancePath + "/body/id", schemaPath: "#/properties/body/properties/id/int64", keyword: "int64", params: {}, message: 'must pass "int64" keyword validation', schema: true, parentSchema: schema31.properties.body.properties.id, data: data1 };
            if (vErrors === null) {
              vErrors = [err3];
            } else {
              vErrors.push(err3);
            }
            errors++;
          }
        }
        if (data0.name !== void 0) {
          let data2 = data0.name;
          if (typeof data2 === "string") {
            if (!data2.isWellFormed()) {
              const err4 = { instancePath: instancePath + "/body/name", schemaPath: "#/properties/body/properties/name/wellFormed", keyword: "wellFormed", params: {}, message: 'must pass "wellFormed" keyword validation', schema: true, parentSchema: schema31.properties.body.properties.name, data: data2 };
              if (vErrors === null) {
                vErrors = [err4];
              } else {
                vErrors.push(err4);
              }
              errors++;
            }
          } else {
            const err5 = { instancePath: instancePath + "/body/name", schemaPath: "#/properties/body/properties/name/type", keyword: "type", params: { type: "string" }, message: "must be string", schema: schema31.properties.body.properties.name.type, parentSchema: schema31.properties.body.properties.name, data: data2 };
            if (vErrors === null) {
              vErrors = [err5];
            } else {
              vErrors.push(err5);
            }
            errors++;
          }
        }
        if (data0.tag !== void 0) {
          let data3 = data0.tag;
          if (typeof data3 === "string") {
            if (!data3.isWellFormed()) {
              const err6 = { instancePath: instancePath + "/body/tag", schemaPath: "#/properties/body/properties/tag/wellFormed", keyword: "wellFormed", params: {}, message: 'must pass "wellFormed" keyword validation', schema: true, parentSchema: schema31.properties.body.properties.tag, data: data3 };
              if (vErrors === null) {
                vErrors = [err6];
              } else {
                vErrors.push(err6);
              }
              errors++;
            }
          } else {
            const err7 = { instancePath: instancePath + "/body/tag", schemaPath: "#/properties/body/properties/tag/type", keyword: "type", params: { type: "string" }, message: "must be string", schema: schema31.properties.body.properties.tag.type, parentSchema: schema31.properties.body.properties.tag, data: data3 };
            if (vErrors === null) {
              vErrors = [err7];
            } else {
              vErrors.push(err7);
            }
            errors++;
          }
        }
      } else {
        const err8 = { instancePath: instancePath + "/body", schemaPath: "#/properties/body/type", keyword: "type", params: { type: "object" }, message: "must be object", schema: schema31.properties.body.type, parentSchema: schema31.properties.body, data: data0 };
        if (vErrors === null) {
          vErrors = [err8];
        } else {
          vErrors.push(err8);
        }
        errors++;
      }
    }
  } else {
    const err9 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object", schema: schema31.type, parentSchema: schema31, data };
    if (vErrors === null) {
      vErrors = [err9];
    } else {
      vErrors.push(err9);
    }
    errors++;
  }
  validate20.errors = vErrors;
  return errors === 0;
}
validate20.evaluated = { "props": { "body": true }, "dynamicProps": false, "dynamicItems": false };
export {
  stdin_default as default,
  validate
};
