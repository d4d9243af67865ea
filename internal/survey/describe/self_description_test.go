package describe

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// A directoryTree is the files of one directory, with the outlines that grammars make.
type directoryTree map[string]string

func (directoryTree) Commit() repo.ID { return repo.ID{} }

func (t directoryTree) Files(context.Context) ([]repo.File, error) {
	var list []repo.File
	for name, text := range t {
		list = append(list, repo.File{Path: repo.Path(name), ID: repo.SHA1.Blob([]byte(text)), Size: int64(len(text)), Kind: kindOf(name)})
	}
	slices.SortFunc(list, func(a, b repo.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}

func kindOf(name string) repo.Kind {
	base := strings.ToLower(path.Base(name))
	switch {
	case strings.Contains(base, "test"):
		return repo.KindTest
	case strings.HasPrefix(base, "readme"), strings.HasSuffix(base, ".md"):
		return repo.KindDoc
	case slices.Contains([]string{".json", ".toml", ".cfg", ".xml", ".yaml"}, path.Ext(base)):
		return repo.KindConfig
	}
	return repo.KindSource
}

func (t directoryTree) Read(_ context.Context, f *repo.File, most int) ([]byte, error) {
	text, ok := t[string(f.Path)]
	if !ok || len(text) > most {
		return nil, errors.New("not there, or too large")
	}
	return []byte(text), nil
}

func (t directoryTree) Outlines(_ context.Context, files []*repo.File) ([]workspace.OutlineResult, error) {
	list := make([]workspace.OutlineResult, len(files))
	for i, f := range files {
		o, err := outline.Parse(f.Path, []byte(t[string(f.Path)]))
		if err == nil {
			list[i].Outline = o
		}
	}
	return list, nil
}

func (directoryTree) Patch(context.Context, *repo.File, repo.ID) (string, error) { return "", nil }

func (directoryTree) Summaries(_ context.Context, files []*repo.File) ([]workspace.Summary, error) {
	return make([]workspace.Summary, len(files)), nil
}

// outlineOf returns the outline of a tree with the files of one directory.
func outlineOf(t *testing.T, tree directoryTree, staleMentions map[repo.Path][]string) string {
	t.Helper()
	list, err := tree.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	it := &Item{Path: list[0].Path.Dir()}
	var files []*repo.File
	for i := range list {
		files = append(files, &list[i])
	}
	if err := it.ReadFiles(t.Context(), tree, files, staleMentions); err != nil {
		t.Fatal(err)
	}
	draft, err := Outliner{}.Write(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	return draft.Text
}

// Each case is a directory named shop, and the first line of its outline.
func TestSelfDescription(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"a package comment in Go", "-- a.go --\n// Package shop routes orders.\npackage shop\n", "Package shop routes orders."},
		{"doc.go before others", "-- a.go --\n// Package shop is old text here.\npackage shop\n-- doc.go --\n// Package shop routes orders.\npackage shop\n", "Package shop routes orders."},
		{"a file's comment is not the package's", "-- a.go --\n// This file has the tables of the lexer.\npackage shop\n-- shop.go --\n// Package shop routes orders.\npackage shop\n", "Package shop routes orders."},
		{"a docstring in Python", "-- __init__.py --\n\"\"\"Routes orders between shops.\"\"\"\n", "Routes orders between shops."},
		{"a module comment in Rust", "-- lib.rs --\n//! Routes orders between shops.\n\npub fn a() {}\n", "Routes orders between shops."},
		{"mod.rs", "-- mod.rs --\n/*!\nRoutes orders between shops.\n*/\npub fn a() {}\n", "Routes orders between shops."},
		{"after @module", "-- index.ts --\n/**\n * @module\n * Routes orders between shops.\n */\n\nimport x from 'y'\n", "Routes orders between shops."},
		{"after @module with a name", "-- index.js --\n/**\n * @module shop/orders\n *\n * Routes orders between shops.\n */\nexport const a = 1\n", "Routes orders between shops."},
		{"before @packageDocumentation", "-- index.ts --\n/**\n * Routes orders between shops.\n *\n * @packageDocumentation\n */\nexport const a = 1\n", "Routes orders between shops."},
		{"after @fileoverview and a licence", "-- index.js --\n/*! Copyright 2020 The Authors */\n\n/**\n * @fileoverview Routes orders between shops.\n * @author Ada\n */\n'use strict'\nexport const a = 1\n", "Routes orders between shops."},
		{"the comment of a C header", "-- shop.h --\n/* Routes orders between shops. */\n\n#ifndef SHOP_H\n#define SHOP_H\nint a(void);\n#endif\n", "Routes orders between shops."},
		{"package-info in Java", "-- package-info.java --\n/**\n * Routes orders between shops.\n */\npackage shop;\n", "Routes orders between shops."},
		{"package.json", `-- package.json --` + "\n" + `{"name": "shop", "description": "Routes orders between shops"}` + "\n", "Routes orders between shops."},
		{"Cargo.toml", "-- Cargo.toml --\n[package]\nname = \"shop\"\ndescription = \"\"\"\nRoutes orders between shops.\n\"\"\"\n", "Routes orders between shops."},
		{"a comment before the manifest", "-- index.ts --\n/**\n * @module\n * Routes orders between shops.\n */\n-- package.json --\n{\"description\": \"The shop of the market.\"}\n", "Routes orders between shops."},
		{"the manifest before the README", "-- README.md --\n# Shop\n\nThe README speaks of the shop.\n-- package.json --\n{\"description\": \"Routes orders between shops.\"}\n", "Routes orders between shops."},
		{"a README", "-- README.md --\n# Shop\n\nRoutes orders between shops. And more.\n", "Routes orders between shops."},
		{"a README in reStructuredText", "-- README.rst --\n====\nShop\n====\n\n.. image:: badge.svg\n   :alt: badge\n\n|badge|\n\nRoutes `orders <https://example.com>`_ between shops.\n", "Routes orders between shops."},
		{"a README with a list behind a colon", "-- README.md --\nShop is a router of orders for the most important shops, with a focus on:\n\n- speed\n", "Shop is a router of orders for the most important shops."},
		{"a README under About", "-- README.md --\n# Shop\n\n## Install\n\nYou need a market first of all.\n\n## About\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"a README behind a rule", "-- README.md --\n# Shop\n\n----\n\nRoutes orders between shops.\n\n----\n\nTake a course about shops.\n", "Routes orders between shops."},
		{"the only comment of a package", "-- run.go --\n// The router is responsible for all orders.\npackage main\n-- b.go --\npackage main\n", "The router is responsible for all orders."},
		{"emphasis", "-- README.md --\n# Shop\n\n**Shop** - _means market_ - routes `orders` between *shops*.\n", "Shop - means market - routes orders between shops."},

		{"no badges", "-- README.md --\n# Shop\n\n[![Build](https://ci/badge.svg)](https://ci) [![Go](https://x/y.svg)](https://x)\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no images", "-- README.md --\n<p align=\"center\">\n  <img src=\"logo.png\" alt=\"The logo of the shop\" width=\"300\">\n</p>\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no ASCII art", "-- README.md --\n    ____  _\n   / ___|| |__   ___  _ __\n\n |  _ \\ / _ \\ | '_ \\ shop\n |_| |_|\\___/ | .__/\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no quotations", "-- README.md --\n# Shop\n\n> All the world is a market, said the merchant.\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no HTML comments", "-- README.md --\n<!--\nThis is how to write the README of a shop.\n\nKeep it short and to the point.\n-->\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no table of contents", "-- README.md --\n# Shop\n\n## Table of Contents\n\n- [Install it with care](#install)\n\n1. [Use it with care](#use)\n\n## What it does\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no headings alone", "-- README.md --\n# Shop and its orders\n\n## Orders and their shops\n", store.EmptyOutline},
		{"no note of a fork", "-- README.md --\n# Shop\n\nThis is a fork of the old market.\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no request for money", "-- README.rst --\nDonations\n=========\n\n`Open Collective <https://x>`_ is our community-powered funding platform.\n\nWhat is a shop?\n===============\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no caption of a picture", "-- README.md --\n<p align=\"center\">\n  The shop above is not importing any code.\n</p>\n\n## Intro\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no link alone", "-- README.md --\n# Shop\n\n[Official Announcement](https://x)\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no licence", "-- index.js --\n/**\n * Copyright (c) 2020 The Authors. All rights reserved.\n * @module\n */\nexport const a = 1\n-- README.md --\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no navigation", "-- README.md --\n# Shop\n\n[English](README.md) | [中文](README.zh.md) | [Website](https://shop.example)\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no template of Create React App", "-- README.md --\n# Getting Started with Create React App\n\nThis project was bootstrapped with [Create React App](https://github.com/facebook/create-react-app).\n\n## Available Scripts\n\nIn the project directory, you can run:\n", store.EmptyOutline},
		{"no template of a gem", "-- README.md --\n# Shop\n\nTODO: Write a gem description\n\nAdd this line to your application's Gemfile:\n", store.EmptyOutline},
		{"no README of another package", "-- README.md --\n# create-market\n\nMakes a market out of nothing.\n", store.EmptyOutline},
		{"a README of this package by its scope", "-- README.md --\n# @market/shop-router\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"a README of the package in the manifest", "-- README.md --\n# create-market\n\nMakes a market out of nothing.\n-- package.json --\n{\"name\": \"create-market\"}\n", "Makes a market out of nothing."},
		{"no placeholder in a manifest", "-- package.json --\n{\"description\": \"TODO: describe this package\"}\n", store.EmptyOutline},
		{"no variables", "-- pom.xml --\n<project><description>${project.name} of the market</description></project>\n", store.EmptyOutline},
		{"no table", "-- README.md --\n| name | what it is for |\n|---|---|\n| a | the first of all |\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no front matter", "-- README.md --\n---\ntitle: The shop of the market\nauthor: Ada Lovelace of London\n---\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no list of languages", "-- README.md --\n# Shop\n\nEnglish · Français · Italiano · Español\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no status", "-- README.md --\n# Shop\n\nStatus: experimental, and so on.\n\nThis project is no longer maintained.\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"a centred title and sentence", "-- README.md --\n<h1 align=\"center\">\n  <img src=\"logo.png\"><br>\n  Shop\n</h1>\n\n<p align=\"center\"><b>Routes</b> orders between shops.</p>\n", "Routes orders between shops."},
		{"no alerts", "-- README.md --\n> [!NOTE]\n> The main branch may be broken now.\n\n**Note**: The main branch may be broken now.\n\nRoutes orders between shops.\n", "Routes orders between shops."},
		{"no code", "-- README.md --\n```\nshop --route all the orders\n```\n\n    shop --route them again and again\n\nRoutes orders between shops.\n", "Routes orders between shops."},
	} {
		files := make(directoryTree)
		for _, f := range txtar.Parse([]byte(c.files)).Files {
			files["shop/"+f.Name] = string(f.Data)
		}
		got, _, _ := strings.Cut(outlineOf(t, files, nil), "\n")
		if got != c.want {
			t.Errorf("%s: the outline begins %q, want %q", c.name, got, c.want)
		}
	}
}

// A paragraph of a README with a mention that ken docs lists as stale is not quoted.
func TestSelfDescriptionWithoutStaleMentions(t *testing.T) {
	files := directoryTree{"shop/README.md": "# Shop\n\nRoutes what `orders.go` lists.\n\nRuns in every market of the world.\n"}
	stale := map[repo.Path][]string{"shop/README.md": {"orders.go"}}
	if got, want := outlineOf(t, files, stale), "Runs in every market of the world."; got != want {
		t.Errorf("the outline is %q, want %q", got, want)
	}
	if got, want := outlineOf(t, files, nil), "Routes what orders.go lists."; got != want {
		t.Errorf("without stale mentions, the outline is %q, want %q", got, want)
	}
}

// An outline has only facts that a listing of the directory does not show.
func TestNoFiller(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"only names", "-- index.ts --\nimport './x'\n-- index.test.ts --\ntest('x', () => {})\n-- logo.svg --\n<svg/>\n-- LICENSE --\nMIT\n-- package.json --\n{}\n", store.EmptyOutline},
		{"a symbol of the file's name", "-- parse.ts --\nexport function parse() {}\n", store.EmptyOutline},
		{"a title of the file's name", "-- release-checklist.md --\n# Release Checklist\n", store.EmptyOutline},
		{
			"symbols with docs",
			"-- parse.go --\npackage shop\n\n// Parse parses an order.\nfunc Parse() {}\n\n// ParseError is one.\ntype ParseError struct{}\n\nfunc Check() {}\n-- tables.go --\npackage shop\n\nvar Table, Index = 1, 2\n",
			"- parse.go: Parse parses an order; also Check, ParseError\n- tables.go: defines Table, Index",
		},
		{
			"the largest type that has a doc",
			"-- cli.py --\nclass NoShopError(Exception):\n    \"\"\"Raised if there is no shop.\"\"\"\n\nclass Market:\n    \"\"\"Runs all the shops.\"\"\"\n    def open(self):\n        pass\n    def close(self):\n        pass\n",
			"- cli.py: Market: Runs all the shops; also NoShopError",
		},
		{"documents by their titles", "-- guide.md --\n# How to run a shop\n\nYou need a market.\n", "- guide.md: How to run a shop: You need a market."},
	} {
		files := make(directoryTree)
		for _, f := range txtar.Parse([]byte(c.files)).Files {
			files["shop/"+f.Name] = string(f.Data)
		}
		if got := outlineOf(t, files, nil); got != c.want {
			t.Errorf("%s: the outline is\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The headline of a text is its first line. The headline of a list joins its first items.
func TestHeadline(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"Routes orders.\n- a: b": "Routes orders.",
		"- a/: Routes orders.\n- b.go: Parse parses; also Check\n- c.go: defines D": "a: Routes orders; b.go: Parse parses.",
		"- c.go: defines D, E":                            "c.go: defines D, E.",
		"- gen/: left out by policy (generated)":          "",
		"- testdata/: Odd inputs.\n- lex.go: Lex splits.": "lex.go: Lex splits.",
	} {
		if got := Headline(text); got != want {
			t.Errorf("Headline(%q) = %q, want %q", text, got, want)
		}
	}
}
