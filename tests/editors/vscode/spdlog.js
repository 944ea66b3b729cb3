// Replaces the native module that VS Code uses for logs and output channels, which the tests do not compile.
const { appendFileSync, mkdirSync } = require("node:fs");
const { dirname } = require("node:path");

const LEVELS = ["trace", "debug", "info", "warn", "error", "critical"];

class Logger {
  constructor(_type, _name, file) {
    this.file = file;
    this.level = LEVELS.indexOf("info");
    this.plain = false;
    mkdirSync(dirname(file), { recursive: true });
  }

  write(level, message) {
    if (LEVELS.indexOf(level) >= this.level) {
      appendFileSync(this.file, this.plain ? message : `${new Date().toISOString()} [${level}] ${message}\n`);
    }
  }

  getLevel() {
    return this.level;
  }

  setLevel(level) {
    this.level = level;
  }

  clearFormatters() {
    this.plain = true;
  }

  setPattern() {}

  flush() {}

  drop() {}
}

for (const level of LEVELS) {
  Logger.prototype[level] = function (message) {
    this.write(level, message);
  };
}

exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => undefined;
exports.setFlushOn = () => undefined;
exports.createRotatingLogger = async (name, file) => new Logger("rotating", name, file);
exports.createAsyncRotatingLogger = exports.createRotatingLogger;
