// Generated from openapi.yaml by npm run generate. Do not edit.
// @ts-nocheck because Ajv's code has no types.
// <stdin>
var validate = validate20;
var stdin_default = validate20;
var schema31 = { "type": "object", "required": ["body"], "properties": { "body": { "$ref": "openapi.yaml#/components/schemas/NewPlant" } } };
var schema33 = { "allOf": [{ "type": "object", "required": ["id"], "properties": { "id": { "int64": true } } }, { "$ref": "#/components/schemas/Plant" }] };
var schema34 = { "type": "object", "required": ["name"], "properties": { "name": { "type": "string", "wellFormed": true }, "tag": { "type": "string", "wellFormed": true } } };
function validate22(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate22.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = void 0;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = void 0;
  }
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.id === void 0) {
      const err0 = { instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: "id" }, message: "must have required property 'id'", schema: schema33.allOf[0].required, parentSchema: schema33.allOf[0], data };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.id !== void 0) {
      let data0 = data.id;
      if (typeof data0 === "bigint" ? BigInt.asIntN(64, data0) !== data0 : !Number.isInteger(data0)) {
        const err1 = { instancePath: instancePath + "/id", schemaPath: "#/allOf/0/properties/id/int64", keyword: "int64", params: {}, message: 'must pass "int64" keyword validation', schema: true, parentSchema: schema33.allOf[0].properties.id, data: data0 };
        if (vErrors === null) {
          vErrors = [err1];
        } else {
          vErrors.push(err1);
        }
        errors++;
      }
    }
  } else {
    const err2 = { instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" }, message: "must be object", schema: schema33.allOf[0].type, parentSchema: schema33.allOf[0], data };
    if (vErrors === null) {
      vErrors = [err2];
    } else {
      vErrors.push(err2);
    }
    errors++;
  }
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.name === void 0) {
      const err3 = { instancePath, schemaPath: "#/components/schemas/Plant/required", keyword: "required", params: { missingProperty: "name" }, message: "must have required property 'name'", schema: schema34.required, parentSchema: schema34, data };
      if (vErrors === null) {
        vErrors = [err3];
      } else {
        vErrors.push(err3);
      }
      errors++;
    }
    if (data.name !== void 0) {
      let data1 = data.name;
      if (typeof data1 === "string") {
        if (!data1.isWellFormed()) {
          const err4 = { instancePath: instancePath + "/name", schemaPath: "#/components/schemas/Plant/properties/name/wellFormed", keyword: "wellFormed", params: {}, message: 'must pass "wellFormed" keyword validation', schema: true, parentSchema: schema34.properties.name, data: data1 };
          if (vErrors === null) {
            vErrors = [err4];
          } else {
            vErrors.push(err4);
          }
          errors++;
        }
      } else {
        const err5 = { instancePath: instancePath + "/name", schemaPath: "#/components/schemas/Plant/properties/name/type", keyword: "type", params: { type: "string" }, message: "must be string", schema: schema34.properties.name.type, parentSchema: schema34.properties.name, data: data1 };
        if (vErrors === null) {
          vErrors = [err5];
        } else {
          vErrors.push(err5);
        }
        errors++;
      }
    }
    if (data.tag !== void 0) {
      let data2 = data.tag;
      if (typeof data2 === "string") {
        if (!data2.isWellFormed()) {
          const err6 = { instancePath: instancePath + "/tag", schemaPath: "#/components/schemas/Plant/properties/tag/wellFormed", keyword: "wellFormed", params: {}, message: 'must pass "wellFormed" keyword validation', schema: true, parentSchema: schema34.properties.tag, data: data2 };
          if (vErrors === null) {
            vErrors = [err6];
          } else {
            vErrors.push(err6);
          }
          errors++;
        }
      } else {
        const err7 = { instancePath: instancePath + "/tag", schemaPath: "#/components/schemas/Plant/properties/tag/type", keyword: "type", params: { type: "string" }, message: "must be string", schema: schema34.properties.tag.type, parentSchema: schema34.properties.tag, data: data2 };
        if (vErrors === null) {
          vErrors = [err7];
        } else {
          vErrors.push(err7);
        }
        errors++;
      }
    }
  } else {
    const err8 = { instancePath, schemaPath: "#/components/schemas/Plant/type", keyword: "type", params: { type: "object" }, message: "must be object", schema: schema34.type, parentSchema: schema34, data };
    if (vErrors === null) {
      vErrors = [err8];
    } else {
      vErrors.push(err8);
    }
    errors++;
  }
  validate22.errors = vErrors;
  return errors === 0;
}
validate22.evaluated = { "props": { "name": true, "tag": true, "id": true }, "dynamicProps": false, "dynamicItems": false };
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
      if (!validate22(data.body, { instancePath: instancePath + "/body", parentData: data, parentDataProperty: "body", rootData, dynamicAnchors })) {
        vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
        errors = vErrors.length;
      }
    }
  } else {
    const err1 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object", schema: schema31.type, parentSchema: schema31, data };
    if (vErrors === null) {
      vErrors = [err1];
    } else {
      vErrors.push(err1);
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
