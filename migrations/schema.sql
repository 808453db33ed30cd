-- Generated from the migrations: cargo xtask codegen

CREATE TABLE "actors" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "name" text NOT NULL,
  "kind" smallint NOT NULL,
  "client" text NOT NULL
);

CREATE UNIQUE INDEX "actors_actor" ON "actors" ("name", "kind", "client");

CREATE TABLE "api_tokens" (
  "id" text NOT NULL PRIMARY KEY,
  "hash" blob NOT NULL,
  "name" text NOT NULL,
  "kind" smallint NOT NULL,
  "scopes" smallint NOT NULL,
  "programs" text NULL,
  "created" integer NOT NULL,
  "expires" integer NULL,
  "last_used" integer NULL,
  "revoked" integer NULL
);

CREATE UNIQUE INDEX "api_tokens_name" ON "api_tokens" ("name") WHERE "revoked" IS NULL;

CREATE TABLE "case_results" (
  "program" integer NOT NULL,
  "digest" blob NOT NULL,
  "made" integer NOT NULL,
  "payload" blob NOT NULL,
  PRIMARY KEY ("program", "digest")
);

CREATE INDEX "case_results_made" ON "case_results" ("program", "made");

CREATE TABLE "case_sightings" (
  "case_id" uuid_text NOT NULL,
  "branch" integer NOT NULL,
  "revision" integer NOT NULL,
  "digest" blob NOT NULL,
  "green" boolean NOT NULL,
  PRIMARY KEY ("case_id", "branch", "revision")
);

CREATE TABLE "cases" (
  "id" uuid_text NOT NULL PRIMARY KEY,
  "program" integer NOT NULL,
  "function" integer NOT NULL,
  "name" text NOT NULL,
  "made" integer NOT NULL,
  "removed" integer NULL,
  "made_key" blob NULL,
  "made_digest" blob NULL,
  "removed_key" blob NULL,
  "removed_digest" blob NULL,
  "payload" blob NOT NULL
);

CREATE UNIQUE INDEX "cases_made_key" ON "cases" ("made_key");

CREATE UNIQUE INDEX "cases_name" ON "cases" ("program", "function", "name") WHERE "removed" IS NULL;

CREATE UNIQUE INDEX "cases_removed_key" ON "cases" ("removed_key");

CREATE TABLE "entities" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "id" uuid_text NOT NULL UNIQUE,
  "label" blob NOT NULL,
  "name" blob NOT NULL,
  "props" blob NOT NULL,
  "created" integer NOT NULL,
  "updated" integer NOT NULL
);

CREATE UNIQUE INDEX "entities_label_name" ON "entities" ("label", "name");

CREATE INDEX "entities_name" ON "entities" ("name");

CREATE TABLE "entity_changes" (
  "revision" integer NOT NULL PRIMARY KEY,
  "id" uuid_text NOT NULL UNIQUE,
  "time" integer NOT NULL,
  "actor" integer NOT NULL,
  "inserted" integer NOT NULL,
  "updated" integer NOT NULL,
  "deleted" integer NOT NULL,
  "unchanged" integer NOT NULL,
  "made_key" blob NULL,
  "made_digest" blob NULL
);

CREATE UNIQUE INDEX "entity_changes_made_key" ON "entity_changes" ("made_key");

CREATE TABLE "entity_values" (
  "id" uuid_text NOT NULL,
  "digest" blob NOT NULL,
  "name" blob NOT NULL,
  PRIMARY KEY ("id", "digest")
);

CREATE INDEX "entity_values_digest" ON "entity_values" ("digest", "name");

CREATE TABLE "flow_changes" (
  "revision" integer NOT NULL PRIMARY KEY,
  "id" uuid_text NOT NULL UNIQUE,
  "time" integer NOT NULL,
  "actor" integer NOT NULL,
  "name" blob NOT NULL,
  "version" integer NOT NULL,
  "definition" blob NULL
);

CREATE TABLE "flow_definitions" (
  "hash" blob NOT NULL PRIMARY KEY,
  "name" text NOT NULL,
  "version" integer NOT NULL,
  "definition" blob NOT NULL
);

CREATE TABLE "interrupts" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "run" uuid_text NOT NULL,
  "asked" integer NOT NULL,
  "time" integer NOT NULL,
  "standing" smallint NOT NULL,
  "program" uuid_text NULL
);

CREATE UNIQUE INDEX "interrupts_asked" ON "interrupts" ("run", "asked");

CREATE INDEX "interrupts_standing" ON "interrupts" ("standing", "key");

CREATE TABLE "journal" (
  "position" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "run" uuid_text NOT NULL,
  "number" integer NOT NULL,
  "time" integer NOT NULL,
  "kind" smallint NOT NULL,
  "payload" blob NOT NULL
);

CREATE UNIQUE INDEX "journal_entry" ON "journal" ("run", "number");

CREATE TABLE "log" (
  "position" integer NOT NULL PRIMARY KEY,
  "program" integer NOT NULL,
  "seq" integer NOT NULL,
  "id" uuid_text NOT NULL,
  "parents" blob NOT NULL,
  "branch" integer NOT NULL,
  "kind" smallint NOT NULL,
  "actor" integer NOT NULL,
  "on_behalf_of" text NULL,
  "message" text NULL,
  "time" integer NOT NULL,
  "edits" blob NOT NULL,
  "counts" blob NOT NULL,
  "root_hash" blob NOT NULL,
  "next_ref" integer NOT NULL,
  "target" integer NULL,
  "idem_key" blob NULL,
  "request_digest" blob NULL,
  "run" uuid_text NULL,
  "step" integer NULL ,
  "packed" integer NULL
);

CREATE INDEX "log_branches" ON "log" ("program", "branch", "seq") WHERE "branch" <> 0;

CREATE UNIQUE INDEX "log_entry" ON "log" ("program", "seq");

CREATE UNIQUE INDEX "log_idem" ON "log" ("idem_key", "program") WHERE "idem_key" IS NOT NULL;

CREATE INDEX "log_marks" ON "log" ("program", "seq") WHERE "kind" >= 8;

CREATE INDEX "log_restores" ON "log" ("program", "seq") WHERE "kind" = 5;

CREATE TABLE "look_requests" (
  "idem_key" blob NOT NULL PRIMARY KEY,
  "request_digest" blob NOT NULL,
  "program" integer NOT NULL,
  "made" integer NOT NULL,
  "payload" blob NOT NULL
);

CREATE TABLE "manager_changes" (
  "revision" integer NOT NULL PRIMARY KEY,
  "id" uuid_text NOT NULL UNIQUE,
  "time" integer NOT NULL,
  "actor" integer NOT NULL
);

CREATE TABLE "manager_records" (
  "kind" blob NOT NULL,
  "name" blob NOT NULL,
  "value" blob NOT NULL,
  PRIMARY KEY ("kind", "name")
);

CREATE TABLE "objects" (
  "hash" blob NOT NULL PRIMARY KEY,
  "version" smallint NOT NULL,
  "bytes" blob NOT NULL
);

CREATE TABLE "packs" (
  "program" integer NOT NULL,
  "first" integer NOT NULL,
  "position" integer NOT NULL,
  "bytes" blob NOT NULL,
  PRIMARY KEY ("program", "first")
);

CREATE INDEX "packs_position" ON "packs" ("position");

CREATE TABLE "program_changes" (
  "key" integer NOT NULL PRIMARY KEY,
  "position" integer NOT NULL,
  "program" integer NOT NULL,
  "kind" smallint NOT NULL,
  "name" text NOT NULL,
  "time" integer NOT NULL
);

CREATE TABLE "program_requests" (
  "idem_key" blob NOT NULL PRIMARY KEY,
  "request_digest" blob NOT NULL,
  "program" integer NOT NULL,
  "seq" integer NOT NULL,
  "name" text NOT NULL,
  "doc" text NOT NULL
);

CREATE TABLE "programs" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "id" uuid_text NOT NULL UNIQUE,
  "name" text NOT NULL,
  "doc" text NOT NULL,
  "created" integer NOT NULL,
  "deleted" integer NULL
);

CREATE UNIQUE INDEX "programs_name" ON "programs" ("name") WHERE "deleted" IS NULL;

CREATE TABLE "relations" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "id" uuid_text NOT NULL UNIQUE,
  "source" uuid_text NOT NULL,
  "kind" blob NOT NULL,
  "target" uuid_text NOT NULL,
  "props" blob NOT NULL,
  "created" integer NOT NULL,
  "updated" integer NOT NULL
);

CREATE UNIQUE INDEX "relations_ends" ON "relations" ("source", "kind", "target");

CREATE INDEX "relations_target" ON "relations" ("target", "kind");

CREATE TABLE "removals" (
  "key" smallint NOT NULL PRIMARY KEY,
  "position" integer NOT NULL
);

CREATE TABLE "run_snapshots" (
  "run" uuid_text NOT NULL PRIMARY KEY,
  "number" integer NOT NULL,
  "definition" blob NOT NULL,
  "payload" blob NOT NULL
);

CREATE TABLE "runs" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "id" uuid_text NOT NULL UNIQUE,
  "flow" text NOT NULL,
  "definition" blob NOT NULL,
  "session" uuid_text NOT NULL,
  "parent" uuid_text NULL,
  "parent_place" text NULL,
  "program" uuid_text NULL,
  "branch" text NULL,
  "actor" integer NOT NULL,
  "input" blob NOT NULL,
  "made" integer NOT NULL,
  "status" smallint NOT NULL,
  "node" text NULL,
  "last" integer NOT NULL,
  "wake" integer NULL,
  "ended" integer NULL,
  "made_key" blob NULL,
  "made_digest" blob NULL,
  "forked_from" uuid_text NULL,
  "forked_at" integer NULL,
  "owner" uuid_text NULL,
  "lease" integer NULL ,
  "deadline" integer NULL
);

CREATE INDEX "runs_ended" ON "runs" ("ended") WHERE "ended" IS NOT NULL;

CREATE UNIQUE INDEX "runs_made_key" ON "runs" ("made_key");

CREATE INDEX "runs_parent" ON "runs" ("parent");

CREATE INDEX "runs_session" ON "runs" ("session");

CREATE INDEX "runs_wake" ON "runs" ("wake") WHERE "wake" IS NOT NULL;

CREATE TABLE "secrets" (
  "name" text NOT NULL PRIMARY KEY,
  "value" blob NOT NULL
);

CREATE TABLE "sessions" (
  "key" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "id" uuid_text NOT NULL UNIQUE,
  "workflow" text NOT NULL,
  "title" text NULL,
  "actor" integer NOT NULL,
  "made" integer NOT NULL,
  "made_key" blob NULL,
  "made_digest" blob NULL ,
  "within" integer NULL
);

CREATE UNIQUE INDEX "sessions_made_key" ON "sessions" ("made_key");

CREATE TABLE "simulations" (
  "id" uuid_text NOT NULL PRIMARY KEY,
  "program" integer NOT NULL,
  "created" integer NOT NULL,
  "payload" blob NOT NULL ,
  "digest" blob NOT NULL DEFAULT x'',
  "ended" boolean NOT NULL DEFAULT FALSE
);

CREATE INDEX "simulations_created" ON "simulations" ("created");

CREATE INDEX "simulations_digest" ON "simulations" ("digest");

CREATE INDEX "simulations_program" ON "simulations" ("program");

CREATE TABLE "snapshots" (
  "program" integer NOT NULL,
  "seq" integer NOT NULL,
  "root" blob NOT NULL,
  PRIMARY KEY ("program", "seq")
);
