# frozen_string_literal: true

# Stacks, and a way to print them.

require 'set'
require_relative "base"

module Things
  VERSION = '1.0' # current

  # A stack of things.
  class Stack < Base
    include Enumerable
    attr_reader :size, :items
    LIMIT = 10

    # Makes one.
    def initialize(items = [], limit: LIMIT, &block)
      @items = items
    end

    def self.empty = new

    class << self
      def from(array) new(array) end
    end

    def push(x) # returns self
      text = <<~EOS
        # not a comment
      EOS
      @items << text
    end

    def ==(other) = items == other.items
    def empty? = @items.empty?

    private

    def secret; end

    public

    def peek; end
    def hidden; end
    private :hidden
    private def also_hidden; end
  end
end

# Prints it.
def show(stack) puts stack end
