// Generated from the contract by npm run generate. Do not edit.
export const operationId = "listPlants";
export const parameterShapes = {"pathParameters":{},"queryStringParameters":{"limit":"int32","cursor":"string"}};
export const plantShape = {"name":"string","tag":"string"};
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["queryStringParameters"],"properties":{"queryStringParameters":{"type":"object","additionalProperties":false,"required":[],"properties":{"limit":{"type":"integer","int32":true,"minimum":1,"maximum":100},"cursor":{"type":"string","wellFormed":true,"pattern":"^-?\\d{1,19}$"}}}}};
const pattern4 = new RegExp("^-?\\d{1,19}$", "u");

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
if(data.queryStringParameters === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "queryStringParameters"},message:"must have required property '"+"queryStringParameters"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.queryStringParameters !== undefined){
let data0 = data.queryStringParameters;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key0 in data0){
if(!((key0 === "limit") || (key0 === "cursor"))){
delete data0[key0];
}
}
if(data0.limit !== undefined){
let data1 = data0.limit;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err1 = {instancePath:instancePath+"/queryStringParameters/limit",schemaPath:"#/properties/queryStringParameters/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema31.properties.queryStringParameters.properties.limit.type,parentSchema:schema31.properties.queryStringParameters.properties.limit,data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 100 || isNaN(data1)){
const err2 = {instancePath:instancePath+"/queryStringParameters/limit",schemaPath:"#/properties/queryStringParameters/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema31.properties.queryStringParameters.properties.limit,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/queryStringParameters/limit",schemaPath:"#/properties/queryStringParameters/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema31.properties.queryStringParameters.properties.limit,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((data1 | 0) !== data1){
const err4 = {instancePath:instancePath+"/queryStringParameters/limit",schemaPath:"#/properties/queryStringParameters/properties/limit/int32",keyword:"int32",params:{},message:"must pass \"int32\" keyword validation",schema:true,parentSchema:schema31.properties.queryStringParameters.properties.limit,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data0.cursor !== undefined){
let data2 = data0.cursor;
if(typeof data2 === "string"){
if(!pattern4.test(data2)){
const err5 = {instancePath:instancePath+"/queryStringParameters/cursor",schemaPath:"#/properties/queryStringParameters/properties/cursor/pattern",keyword:"pattern",params:{pattern: "^-?\\d{1,19}$"},message:"must match pattern \""+"^-?\\d{1,19}$"+"\"",schema:"^-?\\d{1,19}$",parentSchema:schema31.properties.queryStringParameters.properties.cursor,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!data2.isWellFormed()){
const err6 = {instancePath:instancePath+"/queryStringParameters/cursor",schemaPath:"#/properties/queryStringParameters/properties/cursor/wellFormed",keyword:"wellFormed",params:{},message:"must pass \"wellFormed\" keyword validation",schema:true,parentSchema:schema31.properties.queryStringParameters.properties.cursor,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/queryStringParameters/cursor",schemaPath:"#/properties/queryStringParameters/properties/cursor/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.queryStringParameters.properties.cursor.type,parentSchema:schema31.properties.queryStringParameters.properties.cursor,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/queryStringParameters",schemaPath:"#/properties/queryStringParameters/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.queryStringParameters.type,parentSchema:schema31.properties.queryStringParameters,data:data0};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":{"queryStringParameters":true},"dynamicProps":false,"dynamicItems":false};

