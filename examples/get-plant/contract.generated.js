// Generated from the contract by npm run generate. Do not edit.
export const operationId = "getPlant";
export const parameterShapes = {"pathParameters":{"id":"int64"},"queryStringParameters":{}};
export const plantShape = {"name":"string","tag":"string"};
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["pathParameters"],"properties":{"pathParameters":{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"int64":true}}}}};

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.pathParameters === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "pathParameters"},message:"must have required property '"+"pathParameters"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.pathParameters !== undefined){
let data0 = data.pathParameters;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(data0.id === undefined){
const err1 = {instancePath:instancePath+"/pathParameters",schemaPath:"#/properties/pathParameters/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema31.properties.pathParameters.required,parentSchema:schema31.properties.pathParameters,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data0){
if(!(key0 === "id")){
delete data0[key0];
}
}
if(data0.id !== undefined){
let data1 = data0.id;
if(typeof data1 !== "bigint" || BigInt.asIntN(64, data1) !== data1){
const err2 = {instancePath:instancePath+"/pathParameters/id",schemaPath:"#/properties/pathParameters/properties/id/int64",keyword:"int64",params:{},message:"must pass \"int64\" keyword validation",schema:true,parentSchema:schema31.properties.pathParameters.properties.id,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/pathParameters",schemaPath:"#/properties/pathParameters/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.pathParameters.type,parentSchema:schema31.properties.pathParameters,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":{"pathParameters":true},"dynamicProps":false,"dynamicItems":false};

