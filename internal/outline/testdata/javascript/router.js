#!/usr/bin/env node
'use strict';

/*!
 * router
 * Copyright(c) 2020 Someone
 */

/**
 * Routes requests to handlers.
 *
 * @module router
 */

const { join } = require('node:path');
const debug = require("debug")('router');
import fs from 'node:fs';
export { helper } from './helper.js';

/** How many routes there may be. */
export const MAX = 100;
let count = 0, total;

/**
 * A route.
 */
export class Route extends Base {
  #secret = 1;
  static kind = 'route';
  handlers = [];

  /**
   * Makes a route for `path`. It may have parameters.
   * @param {string} path
   */
  constructor(path) { super(path); }

  get path() { return this.#secret; }

  async *match(req, { strict = false } = {}) {
    function inner() {}
  }

  onDone = (err) => { throw err; };
}

// Adds two numbers.
function add(a, b = 1, ...rest) { return a + b; }

export default function (opts) { return opts; }

const later = async ({ a, b }) => a / b / 2;

exports.create = function create(name) { return new Route(name); };
Route.prototype.close = function () {};
module.exports = { add, later: later };

export const View = () => <div className="x">text // no comment</div>;
